// This function makes the tensor kernel that computes its factors in every application.
#pragma once

#include <memory>

#include "operators/cells/device_cells.hpp"

namespace tessera {

/// The tensor kernel with D_q = k |J| J^-1 J^-T computed in every application from the positions of
/// the cell's nodes: FactorStorage::on_the_fly. It holds the positions of all nodes in GPU memory,
/// and k at the points unless it is constant. Geometry is computed in double precision always. It
/// has no patches.
/// @throws as DeviceFactors; std::invalid_argument unless has_fast_tensor_kernel(degree, points)
///         and the mesh is mapped, or for 2^32 cells and more
template <class T>
std::unique_ptr<DeviceCellKernel<T>> make_on_the_fly_kernel(const BilinearForm& form);

}  // namespace tessera
