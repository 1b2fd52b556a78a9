// These functions make resident conjugate gradients for the Kronecker operator.
#pragma once

#include <memory>

#include "operators/kronecker/factors/factors.hpp"
#include "operators/kronecker/resident/launch.hpp"

namespace tessera {

/// What resident conjugate gradients know of an operator, whose cells are alike. The reaction is
/// left to the caller.
ResidentData resident_data(const KroneckerFactors& factors, const IndexBox& nodes);

/// Conjugate gradients on this operator, or null where no cut into bricks fits the GPU.
/// @param data refers to the operator, as its reaction may change
/// @throws DeviceOutOfMemory, DeviceError
std::unique_ptr<ResidentCg<double>> make_kronecker_resident_cg(const ResidentData& data);

}  // namespace tessera
