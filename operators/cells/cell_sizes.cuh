// CellSizes are the dimension, nodes and points of cells, which are constants in some kernels.
#pragma once

#include <algorithm>

#include "mesh/with_constant.hpp"
#include "operators/cells/block_scratch.hpp"
#include "operators/cells/cell_kernel_limits.hpp"
#include "operators/form/cell_grid.hpp"
#include "solvers/check.hpp"

namespace tessera {

/// The most points an axis that kernels which find points are compiled for.
inline constexpr int kMaxFixedPoints = std::min(kMaxFastDegree, 4) + 1;
/// And those that drifts and diagonals by lines are compiled for: one cell's tensors have to fit
/// what kernels may have of shared memory.
inline constexpr int kMaxLinePoints = std::min(kMaxFastDegree, 8) + 1;

/// Sizes of a cell that are compiled in: so many points an axis, and as many nodes.
template <int dimension, int points>
struct CellSizes {
  static constexpr int dim = dimension;
  static constexpr int n = points;  // nodes an axis, p + 1
  static constexpr int m = points;  // quadrature points an axis
  static constexpr int size = dim == 3 ? m * m * m : m * m;
  static constexpr int nodes = size;

  __device__ CellSizes(const CellGrid& /*grid*/, int /*points*/) {}
};

/// Sizes that are known at run time.
template <>
struct CellSizes<0, 0> {
  int dim;
  int n;
  int m;
  int size;   // points of a cell
  int nodes;  // of a cell

  __device__ CellSizes(const CellGrid& grid, int points)
      : dim(grid.dimension),
        n(grid.degree + 1),
        m(points),
        size(dim == 3 ? m * m * m : m * m),
        nodes(dim == 3 ? n * n * n : n * n) {}
};

/// Calls f.operator()<place, Sizes>() with the place of the scratch and the sizes of the cells:
/// constants in 3D with p + 1 points an axis where kernels are compiled for them.
template <class F>
void with_cell_sizes(const BlockScratch& scratch, const CellGrid& grid, int points, F&& f) {
  if (grid.dimension == 3 && points == grid.degree + 1 && points <= kMaxFixedPoints) {
    TESSERA_CHECK(scratch.global_bytes() == 0);
    return with_constant<2, kMaxFixedPoints>(
        points, [&]<int m>() { f.template operator()<ScratchPlace::shared, CellSizes<3, m>>(); });
  }
  scratch.with_place(
      [&]<ScratchPlace place>() { f.template operator()<place, CellSizes<0, 0>>(); });
}

}  // namespace tessera
