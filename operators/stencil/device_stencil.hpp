// This function makes the strategy stencil in GPU memory.
#pragma once

#include <algorithm>
#include <memory>

#include "mesh/saturated.hpp"
#include "operators/cells/element_kernel.hpp"
#include "operators/form/form_shape.hpp"
#include "operators/stencil/planes_per_block.hpp"
#include "operators/stencil/stencil.hpp"
#include "solvers/linear_operator.hpp"

namespace tessera {

/// The most that local matrices take while a stencil is made on the GPU, unless one cell's takes
/// more.
inline constexpr Index kStencilScratchBytes = Index{512} << 20;

/// As make_stencil_operator(), in GPU memory and made there: the tensor kernel is applied to the
/// unit vectors of slabs of cells, and every node adds what its up to 2^d cells of the slab have,
/// in a fixed order; so do nodes of Robin faces. Matrix and product are the same bits in every run.
/// apply() is one launch, allocates nothing and can be captured in a CUDA graph. In 3D the operator
/// has fused operations, whose sums have the same bits in every run on one model of GPU.
/// @param scratch_bytes that the local matrices of a slab may take, unless one cell's takes more
/// @throws std::invalid_argument unless the degree is 1; InvertedCell, BadFieldValue,
///         DeviceOutOfMemory, DeviceError
template <class T>
std::unique_ptr<LinearOperator<T, Device>> make_device_stencil_operator(
    const BilinearForm& form, Index scratch_bytes = kStencilScratchBytes);

/// Bytes that it holds at most: the coefficients and, in 3D, what blocks leave of sums.
inline Index device_stencil_bytes(const FormShape& shape) {
  constexpr Index kSumBytes = 2 * sizeof(double);
  const Index blocks = shape.dimension() == 3 ? max_stencil_blocks(shape.lattice.extents()) : 0;
  return Saturated(stencil_bytes(shape)) + Saturated(blocks) * kSumBytes;
}

/// The most bytes in GPU memory while it is made: the element kernel, then the coefficients, too,
/// and local matrices of a slab (of one cell where all are alike).
inline Index device_stencil_peak_bytes(const FormShape& shape) {
  const Index matrix = power(shape.lattice.nodes_per_cell(), 2) * shape.value_bytes;
  const Index slab =
      shape.factors() == FactorKind::constant
          ? matrix
          : std::min(shape.mesh.cell_count(), kStencilScratchBytes / matrix) * matrix;
  return std::max<Index>(
      device_element_kernel_peak_bytes(shape),
      Saturated(device_element_kernel_bytes(shape)) + device_stencil_bytes(shape) + slab);
}

}  // namespace tessera
