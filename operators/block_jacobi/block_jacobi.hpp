// These functions make block Jacobi of a form's assembled matrix, on bricks of nodes.
#pragma once

#include <memory>

#include "operators/block_jacobi/node_bricks.hpp"
#include "operators/strategy.hpp"
#include "solvers/preconditioners/block_jacobi.hpp"

namespace tessera {

/// BlockJacobi of the form's assembled matrix, which is held in blocks, on bricks of nodes.
/// @throws std::invalid_argument for more than 2^31 - 1 nodes, InvertedCell, BadFieldValue,
///         std::bad_alloc
template <class T>
std::unique_ptr<BlockJacobi<T, Host>> make_block_jacobi(const BilinearForm& form,
                                                        const BlockJacobiOptions& options,
                                                        const IndexTriple& brick);
template <class T>
std::unique_ptr<BlockJacobi<T, Host>> make_block_jacobi(const BilinearForm& form,
                                                        const BlockJacobiOptions& options) {
  return make_block_jacobi<T>(form, options,
                              default_node_brick(form.discretization->lattice.dimension()));
}

/// The same in GPU memory.
/// @throws as make_block_jacobi(), std::invalid_argument for a brick of more than
///         kMaxDeviceBlockRows nodes, DeviceOutOfMemory, DeviceError
template <class T>
std::unique_ptr<BlockJacobi<T, Device>> make_device_block_jacobi(const BilinearForm& form,
                                                                 const BlockJacobiOptions& options,
                                                                 const IndexTriple& brick);
template <class T>
std::unique_ptr<BlockJacobi<T, Device>> make_device_block_jacobi(
    const BilinearForm& form, const BlockJacobiOptions& options) {
  return make_device_block_jacobi<T>(form, options,
                                     default_node_brick(form.discretization->lattice.dimension()));
}

/// The bytes that block Jacobi on default bricks holds in the memory of size.processor, and the
/// most while it is made, when the assembled matrix exists as well. Neither depends on how the
/// kernel tensor keeps its factors.
Index block_jacobi_bytes(const OperatorSize& size, BlockExchange exchange);
Index block_jacobi_peak_bytes(const OperatorSize& size, BlockExchange exchange);

}  // namespace tessera
