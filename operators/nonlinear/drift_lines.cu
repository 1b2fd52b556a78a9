// This file compiles and launches the kernels that add a drift with one thread a line.
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

}  // namespace tessera
