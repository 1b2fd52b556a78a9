// This function makes the Kronecker operator in GPU memory.
#pragma once

#include <memory>

#include "operators/kronecker/factors/factors.hpp"
#include "solvers/linear_operator.hpp"

namespace tessera {

/// As make_kronecker_operator(), in GPU memory.
/// @throws as make_kronecker_factors(), DeviceOutOfMemory, DeviceError
template <class T>
std::unique_ptr<LinearOperator<T, Device>> make_device_kronecker_operator(const BilinearForm& form);

/// Bytes held by the operator in GPU memory.
Index device_kronecker_bytes(const BoxMesh& mesh, int degree, Index value_bytes);

}  // namespace tessera
