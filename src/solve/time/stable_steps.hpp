// These functions refuse explicit steps that are too long to be stable.
#pragma once

#include <fmt/format.h>

#include <limits>
#include <string>

#include "solvers/errors.hpp"
#include "solvers/linear_operator.hpp"
#include "solvers/preconditioners/spectrum.hpp"
#include "solvers/time/stability_limit.hpp"
#include "src/parameters/case_parameters.hpp"

namespace tessera {

/// The longest step of an explicit method that damps w' = -M^-1 A w, M diagonal, by an estimate of
/// the largest eigenvalue of M^-1 A, which is from below; infinite where it is not known. All ranks
/// call it together.
/// @param inverse_mass entries of M^-1, 0 at constrained nodes
template <class Space>
double longest_stable_step(const LinearOperator<double, Space>& a,
                           const Vector<double, Space>& inverse_mass, int order) {
  constexpr int kSteps = 40;
  try {
    return stability_limit(order) / estimate_spectrum(a, inverse_mass, kSteps).largest;
  } catch (const NumericalBreakdown&) {
    // No node is free, or numbers overflow, which steps will say.
    return std::numeric_limits<double>::infinity();
  }
}

/// Throws if the fixed steps of the case are longer than the longest that is stable.
/// @param when a message adds to where steps are unstable: " at t = 2", or nothing
/// @throws UnsuitableChoice
inline void require_stable_step(const TimeParameters& time, double longest,
                                const std::string& when) {
  if (*time.step <= longest) return;
  // The estimate is from below.
  constexpr double kSafe = 0.98;
  throw UnsuitableChoice(
      Choice::time_step,
      fmt::format("explicit-rk of order {} is unstable with steps of this length on this mesh{}, "
                  "at most {:.2g} is possible; without time.step the steps adapt, and the other "
                  "methods are stable with any",
                  time.order, when, kSafe * longest));
}

}  // namespace tessera
