// This file compiles and launches the kernels that add diagonals with one thread a line.
#include "mesh/with_constant.hpp"
#include "operators/tensor/gpu/diagonal_lines.cuh"
#include "operators/tensor/gpu/diagonal_lines.hpp"
#include "operators/tensor/sweeps/even_odd_matrices.hpp"
#include "solvers/memory/launch.cuh"

namespace tessera {

bool has_diagonal_lines(const CellGrid& grid, const Basis1D& basis, FactorKind kind) {
  return kind == FactorKind::general && has_line_kernels(grid.dimension, basis);
}

template <class T>
void add_diagonal_by_lines(const Basis1D& basis, const CellGrid& grid, const CellRange& range,
                           const FactorView<T>& factors, T* d) {
  with_constant<2, kMaxLinePoints>(basis.point_count(), [&]<int m>() {
    const auto products = [](const Matrix1D& x, const Matrix1D& y) {
      return even_odd_lines<T, m, m>([&](int i, int q) { return x(q, i) * y(q, i); });
    };
    const DiagonalMatrices<T, m> matrices{products(basis.B, basis.B), products(basis.B, basis.G),
                                          products(basis.G, basis.G)};
    constexpr int kCells = diagonal_cells<T, m>();
    static_assert(kCells * diagonal_cell_values<m>() * sizeof(T) <= kSharedScratchBytes);
    launch(diagonal_lines_kernel<T, m>,
           {"diagonal of the tensor kernel", blocks_for(range.size(), kCells), dim3(m * m, kCells),
            kCells * diagonal_cell_values<m>() * sizeof(T)},
           grid, range, factors, matrices, d);
  });
}

template void add_diagonal_by_lines(const Basis1D&, const CellGrid&, const CellRange&,
                                    const FactorView<double>&, double*);
template void add_diagonal_by_lines(const Basis1D&, const CellGrid&, const CellRange&,
                                    const FactorView<float>&, float*);

}  // namespace tessera
