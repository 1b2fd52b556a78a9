// This function is the clock of all measurements.
#pragma once

#include <chrono>

namespace tessera {

/// Seconds since any fixed moment, by a clock that nobody sets.
inline double seconds_now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace tessera
