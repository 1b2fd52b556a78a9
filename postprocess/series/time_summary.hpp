// A TimeSummary is what there is to say of a run in time.
#pragma once

#include <optional>
#include <string>

#include "mesh/index.hpp"
#include "postprocess/error_norms.hpp"

namespace tessera {

/// What became of a run in time, up to now.
struct TimeSummary {
  std::string method = {};  // as in the case
  int order = 0;
  double start = 0.0;
  double end = 0.0;  // that was reached
  Index steps = 0;
  Index rejected = 0;
  Index outputs = 0;
  Index linear_iterations = 0;
  /// Of the steps that were taken.
  double smallest_step = 0.0;
  double largest_step = 0.0;
  /// Over the outputs; none without an exact solution.
  std::optional<ErrorNorms> max_error = std::nullopt;
  /// Of Newton's method in all stages; 0 where the case is linear.
  Index nonlinear_iterations = 0;
};

}  // namespace tessera
