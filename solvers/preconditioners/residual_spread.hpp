// These functions say how far runs of an iteration that is another one every time differ.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

namespace tessera {

/// Residuals of several runs after the same number of iterations.
struct ResidualSpread {
  double min = 0.0;
  double mean = 0.0;
  double max = 0.0;
  double deviation = 0.0;  // sqrt(mean of (residual - mean)^2)
};

/// Of at least one residual.
[[nodiscard]] inline ResidualSpread residual_spread(const std::vector<double>& residuals) {
  const auto count = static_cast<double>(residuals.size());
  ResidualSpread spread{.min = residuals.front(), .max = residuals.front()};
  for (const double residual : residuals) {
    spread.min = std::min(spread.min, residual);
    spread.max = std::max(spread.max, residual);
    spread.mean += residual / count;
  }
  double variance = 0.0;
  for (const double residual : residuals) {
    variance += (residual - spread.mean) * (residual - spread.mean) / count;
  }
  spread.deviation = std::sqrt(variance);
  return spread;
}

}  // namespace tessera
