// This function computes a diagonal where no factors are stored.
#pragma once

#include <vector>

#include "operators/tensor/gpu/any_degree.hpp"

namespace tessera {

/// The most that the factors take that are made at a time, unless one cell's take more.
inline constexpr Index kDiagonalChunkBytes = Index{64} << 20;

/// d += the diagonals of the K_c of a mesh with general factors that are not stored: they are made
/// again in the stored form, a slab of cells at a time. `colors` as cell_colors().
template <class T>
void add_general_diagonal(const BilinearForm& form, const CellGrid& grid,
                          const TensorAnySize<T>& any_size, const std::vector<CellRange>& colors,
                          T* d);

}  // namespace tessera
