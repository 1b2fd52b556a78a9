// The lines of steps.csv.
#pragma once

#include <string>

namespace tessera {

/// A step in time.
struct StepRow {
  double t;   // at its end
  double dt;  // its length
  /// NaN if the method has none.
  double error_estimate;
  int linear_iterations;
  /// Steps that were tried in vain before it.
  int rejected;
  /// Of Newton's method in all stages; 0 where the case is linear.
  int nonlinear_iterations = 0;
};

/// The first line: t,dt,error_estimate,linear_iterations,rejected,nonlinear_iterations.
std::string step_header();
/// Of one step; all digits, and nothing for an error estimate that there is not.
std::string step_line(const StepRow& row);

}  // namespace tessera
