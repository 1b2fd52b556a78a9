// These functions make block Jacobi of a form's assembled matrix, on bricks of nodes.
#pragma once

#include <memory>

#include "operators/block_jacobi/node_bricks.hpp"
#include "operators/strategy.hpp"
#include "solvers/preconditioners/block_jacobi.hpp"

namespace tessera {

/// BlockJacobi of the form's assembled matrix, which is held in blocks, on bricks of nodes.
/// @throws std::invalid_argument for more than 2^31 - 1 nodes or, on the GPU, a brick of more than
///         kMaxDeviceBlockRows nodes, InvertedCell, BadFieldValue, std::bad_alloc,
///         DeviceOutOfMemory, DeviceError
template <class T, class Space = Host>
std::unique_ptr<BlockJacobi<T, Space>> make_block_jacobi(const BilinearForm& form,
                                                         const BlockJacobiOptions& options,
                                                         const IndexTriple& brick);
template <class T, class Space = Host>
std::unique_ptr<BlockJacobi<T, Space>> make_block_jacobi(const BilinearForm& form,
                                                         const BlockJacobiOptions& options) {
  return make_block_jacobi<T, Space>(form, options,
                                     default_node_brick(form.discretization->lattice.dimension()));
}

/// The bytes that block Jacobi on default bricks holds in the memory of shape.processor, and the
/// most while it is made, when the assembled matrix is held as well.
OperatorBytes block_jacobi_bytes(const FormShape& shape, BlockExchange exchange);

}  // namespace tessera
