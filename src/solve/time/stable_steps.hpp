// This function refuses explicit steps that are too long to be stable.
#pragma once

#include <fmt/format.h>

#include <string>

#include "solvers/errors.hpp"
#include "solvers/linear_operator.hpp"
#include "solvers/preconditioners/spectrum.hpp"
#include "solvers/time/stability_limit.hpp"
#include "src/parameters/case_parameters.hpp"

namespace tessera {

/// Throws unless the fixed steps of an explicit method damp w' = -M^-1 A w, M diagonal: an estimate
/// of the largest eigenvalue of M^-1 A, from below, tells. All ranks call it together.
/// @param inverse_mass entries of M^-1, 0 at constrained nodes
/// @param when a message adds to where steps are unstable: " at t = 2", or nothing
/// @throws UnsuitableChoice
template <class Space>
void require_stable_step(const LinearOperator<double, Space>& a,
                         const Vector<double, Space>& inverse_mass, const TimeParameters& time,
                         const std::string& when) {
  constexpr int kSteps = 40;
  double largest = 0.0;
  try {
    largest = estimate_spectrum(a, inverse_mass, kSteps).largest;
  } catch (const NumericalBreakdown&) {
    // No node is free, or numbers overflow, which steps will say.
    return;
  }
  const double limit = stability_limit(time.order) / largest;
  if (*time.step <= limit) return;
  // The estimate is from below.
  constexpr double kSafe = 0.98;
  throw UnsuitableChoice(
      Choice::time_step,
      fmt::format("explicit-rk of order {} is unstable with steps of this length on this mesh{}, "
                  "at most {:.2g} is possible; without time.step the steps adapt, and the other "
                  "methods are stable with any",
                  time.order, when, kSafe * limit));
}

}  // namespace tessera
