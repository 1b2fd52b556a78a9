// This file computes order statistics.
#include "postprocess/timing/statistics.hpp"

#include <algorithm>
#include <cmath>

#include "solvers/check.hpp"

namespace tessera {
namespace {

double sorted_quantile(const std::vector<double>& sorted, double share) {
  const double place = share * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(std::floor(place));
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  // The mean of two equal values is that value, whatever the weights round to.
  if (sorted[below] == sorted[above]) return sorted[below];
  const double weight = place - static_cast<double>(below);
  return (1.0 - weight) * sorted[below] + weight * sorted[above];
}

}  // namespace

double quantile(std::vector<double> values, double share) {
  TESSERA_CHECK(!values.empty() && share >= 0.0 && share <= 1.0);
  std::sort(values.begin(), values.end());
  return sorted_quantile(values, share);
}

double median(std::vector<double> values) { return quantile(std::move(values), 0.5); }

Summary summarize(std::vector<double> values) {
  if (values.empty()) return {};
  std::sort(values.begin(), values.end());
  return {.count = static_cast<int>(values.size()),
          .minimum = values.front(),
          .lower_quartile = sorted_quantile(values, 0.25),
          .median = sorted_quantile(values, 0.5),
          .upper_quartile = sorted_quantile(values, 0.75)};
}

Summary scaled(const Summary& summary, double factor) {
  return {.count = summary.count,
          .minimum = factor * summary.minimum,
          .lower_quartile = factor * summary.lower_quartile,
          .median = factor * summary.median,
          .upper_quartile = factor * summary.upper_quartile};
}

}  // namespace tessera
