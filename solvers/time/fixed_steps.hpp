// The lengths of steps that are to be the same are computed here.
#pragma once

#include <cmath>
#include <stdexcept>

#include "solvers/time/step_errors.hpp"

namespace tessera {

/// A step of fixed length, or the shorter one that hits a time.
struct FixedStep {
  double dt = 0.0;
  /// The time at its end, which is `until` to the bit for the last one.
  double end = 0.0;
};

/// The next of the steps of a length from t to `until`, which it does not pass.
/// @throws std::invalid_argument unless until > t; TimeStepError if it is too short to change t
inline FixedStep next_fixed_step(double t, double until, double length) {
  if (!(until > t)) throw std::invalid_argument("a step has to end after the time it begins");
  // t is a sum of steps, in which rounding makes the last one a little longer or shorter than the
  // others, or would leave a tiny one.
  constexpr double kRemainder = 1e-3;
  constexpr double kRounding = 1e-10;
  const double remaining = until - t;
  const bool is_last = remaining <= (1.0 + kRemainder) * length;
  const bool is_full = !is_last || std::abs(remaining - length) <= kRounding * length;
  const double dt = is_full ? length : remaining;
  if (t + dt == t) throw vanishing_step(t, dt, {});
  return {dt, is_last ? until : t + dt};
}

}  // namespace tessera
