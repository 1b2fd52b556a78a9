// These functions are the clock of all measurements, and the median of what it measured.
#pragma once

#include <algorithm>
#include <chrono>
#include <vector>

#include "solvers/check.hpp"

namespace tessera {

/// Seconds since any fixed moment, by a clock that nobody sets.
inline double seconds_now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// The middle value in order, or the mean of the middle two; there is at least one value.
inline double median(std::vector<double> values) {
  TESSERA_CHECK(!values.empty());
  std::sort(values.begin(), values.end());
  const std::size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

}  // namespace tessera
