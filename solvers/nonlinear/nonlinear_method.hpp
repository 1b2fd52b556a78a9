// A NonlinearMethod names how non-linear systems are solved.
#pragma once

namespace tessera {

enum class NonlinearMethod { newton, picard };

/// The most earlier iterates that Anderson's acceleration of picard uses.
inline constexpr int kMaxAcceleration = 15;

}  // namespace tessera
