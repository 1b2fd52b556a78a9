#pragma once

#include <memory>

#include "operators/device_cells.hpp"
#include "solvers/linear_operator.hpp"

namespace tessera {

/// How cells may add into a shared vector on the GPU; scatter.hpp has what each means.
enum class DeviceScatter { atomic, coloring, private_cells, patch, unprotected };

/// y = sum_c P_c K_c P_c^T x on the GPU by a local kernel and a scatter policy; constrained rows
/// and columns are the identity's, Robin faces are added.
template <class T>
std::unique_ptr<LinearOperator<T, Device>> make_device_matrix_free(
    const StiffnessForm& form, std::unique_ptr<DeviceCellKernel<T>> kernel, DeviceScatter scatter);

}  // namespace tessera
