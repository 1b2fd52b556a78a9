// This function makes the tensor kernel of the GPU.
#pragma once

#include <memory>

#include "operators/tensor/gpu/factors.hpp"

namespace tessera {

/// v_c = B^T D B u_c by sum factorization on the GPU: unrolled kernels where
/// has_fast_tensor_kernel(degree, points), and on uniform meshes with constant coefficient for
/// every rule up to kMaxFastDegree; else one of run-time size, which has no patches. Compressed
/// factors and those computed on the fly have kernels of their own.
/// @throws as DeviceFactors
template <class T>
std::unique_ptr<DeviceCellKernel<T>> make_device_tensor_kernel(const BilinearForm& form,
                                                               FactorStorage storage);

}  // namespace tessera
