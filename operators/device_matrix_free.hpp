#pragma once

#include <memory>
#include <string_view>

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

/// Bytes beyond x and y that a policy needs: `private` the E-vector, N values a cell.
constexpr Index device_scatter_bytes(DeviceScatter scatter, Index cells, Index nodes_per_cell,
                                     Index value_bytes) {
  return scatter == DeviceScatter::private_cells ? cells * nodes_per_cell * value_bytes : 0;
}

}  // namespace tessera
