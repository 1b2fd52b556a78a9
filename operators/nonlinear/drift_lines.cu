// This file compiles and launches the kernels that make and add a drift with one thread a line.
#include "mesh/with_constant.hpp"
#include "operators/nonlinear/drift_lines.cuh"
#include "operators/nonlinear/drift_lines.hpp"
#include "operators/tensor/sweeps/even_odd_matrices.hpp"
#include "solvers/memory/launch.cuh"

namespace tessera {

void add_drift_by_lines(const Basis1D& basis, const CellGrid& grid, const CellRange& range,
                        const double* g, const double* v, double* y) {
  with_constant<2, kMaxLinePoints>(basis.point_count(), [&]<int m>() {
    const auto one = [](int) { return 1.0; };
    const DriftMatrices<m> lines{even_odd_lines<double, m, m>(basis.B),
                                 even_odd_transposed<double, m, m>(basis.B, one),
                                 even_odd_transposed<double, m, m>(basis.D, one)};
    constexpr int kCells = drift_cells<m>();
    static_assert(kCells * drift_cell_values<m>() * sizeof(double) <= kSharedScratchBytes);
    launch(drift_lines_kernel<m>,
           {"adding the drift", blocks_for(range.size(), kCells), dim3(m * m, kCells),
            kCells * drift_cell_values<m>() * sizeof(double)},
           DriftLines{grid, range, g, v, y}, lines);
  });
}

bool can_make_drift_by_lines(const Basis1D& basis, const DriftMaking& making) {
  return has_points_on_lines(making.grid.dimension, basis) &&
         making.derivative.field.depth <= kLineDepth &&
         are_all(making.derivative.field, TermsAre::derivatives);
}

void make_drift_by_lines(const Basis1D& basis, const DriftMaking& making) {
  const CellRange all = all_cells(making.grid);
  with_constant<2, kMaxFixedPoints>(basis.point_count(), [&]<int m>() {
    launch(make_drift_lines_kernel<m>, launch_on_lines<m>("the drift", all.size()), making, all,
           PointMatrices<m>(basis));
  });
}

}  // namespace tessera
