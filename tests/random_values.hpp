// This function makes the random input of tests.
#pragma once

#include <cstdint>
#include <random>
#include <vector>

namespace tessera::testing {

/// Uniform values in [-1, 1), the same for the same seed on every machine.
inline std::vector<double> random_values(std::int64_t n, unsigned seed) {
  std::mt19937_64 generator(seed);
  std::vector<double> values(static_cast<std::size_t>(n));
  for (double& value : values) value = static_cast<double>(generator() >> 11) * 0x1p-52 - 1.0;
  return values;
}

}  // namespace tessera::testing
