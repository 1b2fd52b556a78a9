// This function makes the kernel of a mass matrix on the GPU.
#pragma once

#include <memory>

#include "operators/cells/device_cells.hpp"
#include "operators/form/bilinear_form.hpp"

namespace tessera {

/// The tensor kernel of a form (c u, v), k = 0: one value r_q = w |J| c a point, or a number where
/// cells are equal and c is one. Null for other forms and for degrees and rules without an unrolled
/// kernel, where the one with gradients has D_q = 0.
/// @param storage that the kernel is called by; r_q are stored in any case
/// @throws InvertedCell, BadFieldValue as mesh/geometry/geometric_factors.hpp; UnsuitableChoice,
///     DeviceOutOfMemory, DeviceError
template <class T>
std::unique_ptr<DeviceCellKernel<T>> make_device_mass_kernel(const BilinearForm& form,
                                                             FactorStorage storage);

}  // namespace tessera
