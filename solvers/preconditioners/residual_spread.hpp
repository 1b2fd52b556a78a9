// These functions say how far runs of an iteration that is another one every time differ.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

namespace tessera {

/// Residuals of several runs after the same number of iterations.
struct ResidualSpread {
  double least = 0.0;
  double mean = 0.0;
  double most = 0.0;
  double deviation = 0.0;  // sqrt(mean of (residual - mean)^2)
};

/// Of at least one residual.
[[nodiscard]] inline ResidualSpread residual_spread(const std::vector<double>& residuals) {
  const auto count = static_cast<double>(residuals.size());
  ResidualSpread spread{.least = residuals.front(), .most = residuals.front()};
  for (const double residual : residuals) {
    spread.least = std::min(spread.least, residual);
    spread.most = std::max(spread.most, residual);
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
