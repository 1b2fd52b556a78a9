// These functions count the flops of the sweeps of one cell on the GPU.
#pragma once

#include "mesh/element/basis_1d.hpp"
#include "operators/tensor/sweeps/line_shapes.hpp"

namespace tessera {

/// The flops from the nodes of a cell to its gradient at the points and back, n nodes and m points
/// an axis, by side_by_side_sweeps*.cuh. Products that share a line share its sums and differences,
/// and so do those whose results are added.
constexpr double side_by_side_flops(int dimension, double n, double m) {
  const double pair = 2.0 * m * n + 2.0 * m + n;  // B and G of one line of nodes
  const double single = even_odd_line_flops(m, n);
  if (dimension == 2) return 2.0 * (n * pair + m * 2.0 * single);
  return 2.0 * (n * n * pair + n * m * (pair + single) + m * m * 3.0 * single);
}

/// The same in 3D where B goes before D in the points, by point_sweeps.cuh.
constexpr double point_sweep_flops(double n, double m) {
  const double sum_of_axes = 2.0 * m * m * m;
  return 2.0 * ((n * n + n * m + m * m) * even_odd_line_flops(m, n) +
                3.0 * m * m * even_odd_line_flops(m, m)) +
         sum_of_axes;
}

/// The same by whole 1D matrices, without even-odd, B before D.
constexpr double whole_matrix_flops(int dimension, double n, double m) {
  if (dimension == 2) return 4.0 * n * m * (n + m) + 8.0 * m * m * m + m * m;
  return 4.0 * n * m * (n * n + n * m + m * m) + 12.0 * m * m * m * m + 2.0 * m * m * m;
}

/// The same in 3D by either.
constexpr double line_sweep_flops(LineSweep sweep, int n, int m) {
  return sweep == LineSweep::side_by_side ? side_by_side_flops(3, n, m) : point_sweep_flops(n, m);
}

}  // namespace tessera
