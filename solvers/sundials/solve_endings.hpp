// These functions say whether a linear solve within an iteration is good enough, and why not.
#pragma once

#include <cstdio>
#include <string>

#include "solvers/solver.hpp"

namespace tessera {

/// A number in a message, with up to six digits.
inline std::string brief_number(double value) {
  char text[32];
  std::snprintf(text, sizeof(text), "%.6g", value);
  return text;
}

/// Whether an iteration for a system that is not linear can go on with what a linear solve found:
/// it has converged, or has stopped early with a tenth of the residual at most.
inline bool gives_direction(const SolveReport& report) {
  constexpr double kUsefulResidual = 0.1;
  const bool stopped_early =
      report.status == SolveStatus::iteration_limit || report.status == SolveStatus::stagnated;
  return report.status == SolveStatus::converged ||
         (stopped_early && report.true_relative_residual <= kUsefulResidual);
}

/// @param solver which one it was, "the linear solver"
inline std::string failure_of_solver(const char* solver, const SolveReport& report) {
  return std::string(solver) + " did not converge: " + std::string(status_name(report.status)) +
         " at iteration " + std::to_string(report.iterations) + ", with a relative residual of " +
         brief_number(report.true_relative_residual);
}

}  // namespace tessera
