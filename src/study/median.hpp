// This function finds the median of some numbers.
#pragma once

#include <algorithm>
#include <vector>

#include "solvers/check.hpp"

namespace tessera {

/// The middle value in order, or the mean of the middle two; there is at least one value.
inline double median(std::vector<double> values) {
  TESSERA_CHECK(!values.empty());
  std::sort(values.begin(), values.end());
  const std::size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

}  // namespace tessera
