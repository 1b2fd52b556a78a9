// This function makes an operator of a local kernel and a scatter policy on the GPU.
#pragma once

#include <memory>

#include "operators/cells/device_cells.hpp"
#include "operators/cells/scatter.hpp"
#include "solvers/linear_operator.hpp"

namespace tessera {

/// y = sum_c P_c K_c P_c^T x on the GPU by a local kernel and a scatter policy; constrained rows
/// and columns are the identity's, Robin faces are added.
/// @throws std::invalid_argument for DeviceScatter::patch and a kernel without patches
template <class T>
std::unique_ptr<LinearOperator<T, Device>> make_device_matrix_free(
    const BilinearForm& form, std::unique_ptr<DeviceCellKernel<T>> kernel, DeviceScatter scatter);

}  // namespace tessera
