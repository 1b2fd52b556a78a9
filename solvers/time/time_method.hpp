// A TimeMethod names a family of time integration methods.
#pragma once

namespace tessera {

enum class TimeMethod { backward_euler, bdf, sdirk, explicit_rk };

}  // namespace tessera
