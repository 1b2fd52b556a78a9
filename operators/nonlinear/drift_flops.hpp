// What an addition of a drift costs.
#pragma once

#include <cmath>

#include "mesh/discretization.hpp"

namespace tessera {

/// Floating-point operations of Drift::add().
inline double drift_flops(const Discretization& discretization) {
  const int dimension = discretization.mesh.dimension();
  const double n = discretization.basis.node_count();
  const double m = discretization.basis.point_count();
  // A sweep over an axis is a product of an [m, n] matrix with each of its lines.
  double sweeps = 0.0;
  for (int d = 0; d < dimension; ++d) {
    sweeps += 2.0 * m * n * std::pow(m, d) * std::pow(n, dimension - 1 - d);
  }
  const double at_points = dimension * std::pow(m, dimension);
  return static_cast<double>(discretization.mesh.cell_count()) *
         ((1 + dimension) * sweeps + at_points);
}

}  // namespace tessera
