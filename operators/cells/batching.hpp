// How the operators on the host cut a mesh into bricks and batches of cells.
#pragma once

#include <memory>

#include "mesh/discretization.hpp"
#include "mesh/lanes/cell_batches.hpp"
#include "operators/form/form_shape.hpp"

namespace tessera {

/// Bytes that one cell adds to a brick's part of x and y, with neighbors sharing its surface nodes.
inline Index cell_working_set(const NodeLattice& lattice, Index value_bytes) {
  return 2 * value_bytes * power(lattice.degree(), lattice.dimension());
}

/// The cells that the operators have room for: batches are filled up to whole SIMD vectors.
Index batched_cells(const FormShape& shape);

/// The cells of a full brick along each axis, for the threads that there are now.
IndexTriple brick_cells(const FormShape& shape);

/// The batches for the threads that there are now.
template <class T>
std::shared_ptr<const CellBatches> make_batches(const Discretization& discretization);

}  // namespace tessera
