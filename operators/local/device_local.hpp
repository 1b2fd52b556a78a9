// These functions make the strategies local and local-thread on the GPU.
#pragma once

#include <memory>

#include "mesh/geometry/factor_kind.hpp"
#include "mesh/saturated.hpp"
#include "operators/cells/device_cells.hpp"

namespace tessera {

/// v_c = K_c u_c by stored local matrices on the GPU, one for all cells where
/// FactorKind::constant, else one a cell: [cell][j][i], N^2 values with N = (p+1)^d. Deterministic
/// but for atomic sinks; every sink but SinkKind::patch.
///
/// A shared matrix is a dense product V = K U with the cells of a thread block as columns, by FP64
/// tensor cores for double; matrices of their own are streamed, which bandwidth bounds.
/// @param kernel computes the matrices, column by column; not kept
/// @throws DeviceOutOfMemory, DeviceError
template <class T>
std::unique_ptr<DeviceCellKernel<T>> make_device_local_kernel(const BilinearForm& form,
                                                              const DeviceCellKernel<T>& kernel);

/// The same by one thread a cell, row by row, u read from memory for each: the local-matrix kernel
/// of Ljungkvist, "Matrix-free finite-element computations on graphics processors". Matrices of
/// their own lie as [i][j][cell].
/// @throws as make_device_local_kernel()
template <class T>
std::unique_ptr<DeviceCellKernel<T>> make_device_local_thread_kernel(
    const BilinearForm& form, const DeviceCellKernel<T>& kernel);

/// What one thread a cell's matrices are transposed from at setup takes at most, unless one cell's
/// takes more.
inline constexpr Index kLocalScratchBytes = Index{512} << 20;

/// Bytes of the matrices: N^2 values, N = (p+1)^d, once for FactorKind::constant, else a cell.
inline Index device_local_matrix_bytes(FactorKind kind, int dimension, Index cells, int degree,
                                       Index value_bytes) {
  const Index nodes = power(degree + 1, dimension);
  return Saturated(kind == FactorKind::constant ? 1 : cells) * nodes * nodes * value_bytes;
}

}  // namespace tessera
