// This function makes the tensor kernel with compressed factors.
#pragma once

#include <memory>

#include "operators/cells/device_cells.hpp"

namespace tessera {

/// The tensor kernel in 3D with DeviceCompressedFactors: FactorStorage::compressed. It has no
/// patches.
/// @throws as DeviceFactors; std::invalid_argument unless has_fast_tensor_kernel(degree, points),
///         or for 2^32 cells and more
template <class T>
std::unique_ptr<DeviceCellKernel<T>> make_compressed_kernel(const BilinearForm& form);

}  // namespace tessera
