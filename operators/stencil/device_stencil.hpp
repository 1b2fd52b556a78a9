// This function makes the strategy stencil in GPU memory.
#pragma once

#include <algorithm>
#include <memory>

#include "mesh/geometry/factor_kind.hpp"
#include "mesh/saturated.hpp"
#include "operators/stencil/layout.hpp"
#include "operators/tensor/gpu/any_degree.hpp"
#include "operators/tensor/gpu/factors.hpp"
#include "solvers/linear_operator.hpp"

namespace tessera {

/// The most that local matrices take while a stencil is made on the GPU, unless one cell's takes
/// more.
inline constexpr Index kStencilScratchBytes = Index{512} << 20;

/// As make_stencil_operator(), in GPU memory and made there: the tensor kernel is applied to the
/// unit vectors of slabs of cells, and every node adds what its up to 2^d cells of the slab have,
/// in a fixed order; so do nodes of Robin faces. Matrix and product are the same bits in every run.
/// apply() is one launch, allocates nothing and can be captured in a CUDA graph.
/// @param scratch_bytes that the local matrices of a slab may take, unless one cell's takes more
/// @throws std::invalid_argument unless the degree is 1; InvertedCell, BadFieldValue,
///         DeviceOutOfMemory, DeviceError
template <class T>
std::unique_ptr<LinearOperator<T, Device>> make_device_stencil_operator(
    const BilinearForm& form, Index scratch_bytes = kStencilScratchBytes);

/// Bytes held in GPU memory by the operator.
inline Index device_stencil_bytes(const NodeLattice& lattice, Index value_bytes) {
  return Saturated(stencil_values(lattice.dimension(), lattice.extents(), value_bytes)) *
         value_bytes;
}

/// The most while it is made: the tensor kernel's factors, then the coefficients, too, and local
/// matrices of a slab (of one cell where all are alike).
inline Index device_stencil_peak_bytes(FactorKind kind, const NodeLattice& lattice, Index cells,
                                       int points_per_axis, Index value_bytes) {
  const int dimension = lattice.dimension();
  const Index tensor_scratch =
      block_scratch_bytes(tensor_any_block_bytes(dimension, points_per_axis, value_bytes));
  const Index matrix = power(lattice.nodes_per_cell(), 2) * value_bytes;
  const Index slab = kind == FactorKind::constant
                         ? matrix
                         : std::min(cells, kStencilScratchBytes / matrix) * matrix;
  return Saturated(tensor_scratch) +
         std::max<Index>(
             device_factor_peak_bytes(kind, dimension, cells, points_per_axis, lattice.size(),
                                      value_bytes),
             Saturated(device_factor_bytes(kind, dimension, cells, points_per_axis, value_bytes)) +
                 device_stencil_bytes(lattice, value_bytes) + slab);
}

}  // namespace tessera
