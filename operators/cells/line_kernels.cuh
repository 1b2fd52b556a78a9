// These functions say which cells have kernels of one thread a line, and how many a block takes.
#pragma once

#include <algorithm>

#include "mesh/element/basis_1d.hpp"
#include "operators/cells/block_scratch.hpp"
#include "operators/cells/cell_sizes.cuh"

namespace tessera {

/// Whether drifts and diagonals have a kernel for cells like these: 3D, p + 1 points an axis.
inline bool has_line_kernels(int dimension, const Basis1D& basis) {
  return dimension == 3 && basis.point_count() <= kMaxLinePoints &&
         basis.point_count() == basis.node_count();
}

/// The cells of a block of about so many threads, m^2 a cell, as many as have room in the shared
/// memory that kernels may have without asking; at least one.
constexpr int cells_of_lines(int threads, int m, std::size_t cell_bytes) {
  const int room = static_cast<int>(kSharedScratchBytes / cell_bytes);
  return std::max(std::min(threads / (m * m), room), 1);
}

}  // namespace tessera
