// The cell kernel that other strategies get their element matrices from: that of the strategy
// tensor with stored factors, which defines these functions.
#pragma once

#include <memory>

#include "mesh/geometry/geometric_factors.hpp"
#include "operators/cells/cell_kernel.hpp"
#include "operators/cells/device_cells.hpp"
#include "operators/form/form_shape.hpp"

namespace tessera {

/// v_c = B^T D B u_c for batches of cells on the host.
template <class T>
std::unique_ptr<CellKernel<T>> make_element_kernel(const Discretization& discretization,
                                                   std::shared_ptr<GeometricFactors<T>> factors);

/// The same in GPU memory. @throws as DeviceFactors
template <class T>
std::unique_ptr<DeviceCellKernel<T>> make_device_element_kernel(const BilinearForm& form);

/// Bytes of the stored factors on the host.
Index element_factor_bytes(const FormShape& shape);

/// Bytes that the kernel holds in GPU memory, and the most while it is made.
Index device_element_kernel_bytes(const FormShape& shape);
Index device_element_kernel_peak_bytes(const FormShape& shape);

}  // namespace tessera
