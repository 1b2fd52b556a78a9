// These are the limits of key values.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

namespace tessera {

/// The highest polynomial degree.
inline constexpr int kMaxDegree = 32;
/// The most quadrature points along an axis.
inline constexpr int kMaxPoints = 40;
inline constexpr int kMaxThreads = 4096;
/// The most cells along an axis whose grid lines are stored.
inline constexpr int kMaxGradedCells = 1'000'000;

/// The most steps of a smoother, sweeps of a preconditioner or degree of its polynomial.
inline constexpr int kMaxSmootherDegree = 100;

/// The scatter policy used when none is named: coloring if there is one.
inline std::string default_scatter(const std::vector<std::string>& scatters) {
  const auto coloring = std::find(scatters.begin(), scatters.end(), "coloring");
  if (coloring != scatters.end()) return *coloring;
  return scatters.empty() ? "coloring" : scatters.front();
}

}  // namespace tessera
