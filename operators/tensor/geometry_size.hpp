// These functions know the bytes of geometric factors before they are made.
#pragma once

#include "operators/strategy.hpp"

namespace tessera {

/// What the kernel tensor holds of the geometry in the form size.geometry, without a scatter, and
/// the most while it is made. With m points an axis, N nodes, C cells, e = d (d + 1) / 2 entries
/// and v bytes a value:
///   stored      e v C m^d
///   compressed  32 C m^3 + 32 C and padding (single precision: 16 C m^3 + 32 C); where k varies
///               6 v C m^3 + 32 C, because nothing may be packed then
///   on-the-fly  8 d N on the GPU (the host has the positions anyway), v C m^d where k varies
///   stencil     (3^d + 1) / 2 v N and padding
/// and on the GPU what blocks of the kernel of run-time size keep (block_scratch.hpp).
Index geometry_bytes(const OperatorSize& size);
Index geometry_peak_bytes(const OperatorSize& size);
Index device_geometry_bytes(const OperatorSize& size);
Index device_geometry_peak_bytes(const OperatorSize& size);

/// What one cell adds to a brick's part of x and y, with neighbors sharing its surface nodes: the
/// operators on the host cut the mesh into bricks by it.
inline Index cell_working_set(const NodeLattice& lattice, Index value_bytes) {
  return 2 * value_bytes * power(lattice.degree(), lattice.dimension());
}

/// The cells that those operators have room for, with batches filled up to SIMD vectors.
Index batched_cells(const OperatorSize& size);

/// The same as if size.geometry were GeometryForm::stored: for kernels that are made from the
/// kernel tensor.
Index stored_factor_bytes(const OperatorSize& size);
Index device_stored_factor_bytes(const OperatorSize& size);
Index device_stored_factor_peak_bytes(const OperatorSize& size);

}  // namespace tessera
