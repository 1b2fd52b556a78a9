// These functions call for many points what kernels call for one.
#pragma once

#include <array>

#include "mesh/index.hpp"
#include "operators/cells/fields/device_program.hpp"

namespace tessera::testing {

/// n positions in GPU memory, with one array per axis.
struct DevicePoints {
  Index n;
  const double* x;
  const double* y;
  const double* z;
};

/// values[i] = field(point i), in GPU memory.
void evaluate_on_device(const DeviceProgram& program, const DevicePoints& points, double* values);
/// The derivatives, an array [points.n] for each axis.
void evaluate_gradient_on_device(const DeviceProgram& program, const DevicePoints& points,
                                 const std::array<double*, 3>& gradient);

/// The smallest i whose value is not finite or not allowed; n if there is none. Waits for the GPU.
Index first_forbidden(const double* values, Index n, Allowed allowed);

}  // namespace tessera::testing
