// This file writes the numbers of a step.
#include "postprocess/series/step_table.hpp"

#include <fmt/format.h>

#include <cmath>

namespace tessera {

std::string step_header() {
  return "t,dt,error_estimate,linear_iterations,rejected,nonlinear_iterations\n";
}

std::string step_line(const StepRow& row) {
  return fmt::format("{},{},{},{},{},{}\n", row.t, row.dt,
                     std::isnan(row.error_estimate) ? "" : fmt::format("{}", row.error_estimate),
                     row.linear_iterations, row.rejected, row.nonlinear_iterations);
}

}  // namespace tessera
