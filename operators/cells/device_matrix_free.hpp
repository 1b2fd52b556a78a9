// This function makes an operator of a local kernel and a scatter policy on the GPU.
#pragma once

#include <array>
#include <memory>
#include <stdexcept>
#include <string_view>

#include "operators/cells/device_cells.hpp"
#include "solvers/linear_operator.hpp"

namespace tessera {

/// How cells may add into a shared vector on the GPU; scatter.hpp has what each means.
enum class DeviceScatter { atomic, coloring, private_cells, patch, unprotected };

inline constexpr std::array<DeviceScatter, 5> kDeviceScatters = {
    DeviceScatter::atomic, DeviceScatter::coloring, DeviceScatter::private_cells,
    DeviceScatter::patch, DeviceScatter::unprotected};

/// The policy's name in scatter_table().
constexpr std::string_view scatter_name(DeviceScatter scatter) {
  switch (scatter) {
    case DeviceScatter::atomic:
      return "atomic";
    case DeviceScatter::coloring:
      return "coloring";
    case DeviceScatter::private_cells:
      return "private";
    case DeviceScatter::patch:
      return "patch";
    case DeviceScatter::unprotected:
      return "unprotected";
  }
  throw std::logic_error("a scatter policy of the GPU has no name");
}

/// y = sum_c P_c K_c P_c^T x on the GPU by a local kernel and a scatter policy; constrained rows
/// and columns are the identity's, Robin faces are added.
/// @throws std::invalid_argument for DeviceScatter::patch and a kernel without patches
template <class T>
std::unique_ptr<LinearOperator<T, Device>> make_device_matrix_free(
    const BilinearForm& form, std::unique_ptr<DeviceCellKernel<T>> kernel, DeviceScatter scatter);

}  // namespace tessera
