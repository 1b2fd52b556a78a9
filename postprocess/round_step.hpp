// This function finds a round number for the step of a scale.
#pragma once

#include <cmath>

namespace tessera {

/// The least of 1, 2, 5, 10, ... times a power of ten that is not less; 0 where `least` is not
/// positive.
inline double round_step(double least) {
  if (!(least > 0.0)) return 0.0;
  const double power = std::pow(10.0, std::floor(std::log10(least)));
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (factor * power >= least * (1.0 - 1e-9)) return factor * power;
  }
  return 10.0 * power;
}

}  // namespace tessera
