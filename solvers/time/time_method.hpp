// These are the methods that integrate in time.
#pragma once

namespace tessera {

/// How steps in time are made.
enum class TimeMethod { backward_euler, bdf, sdirk, explicit_rk };

}  // namespace tessera
