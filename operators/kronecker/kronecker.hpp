// The strategy kronecker is a sum of Kronecker products of assembled 1D matrices.
#pragma once

#include <memory>

#include "operators/kronecker/factors/factors.hpp"
#include "solvers/linear_operator.hpp"

namespace tessera {

/// y = A x with A a sum of Kronecker products of assembled 1D factors: a streaming kernel without
/// cells or scatter, which reads x once and writes y once. It has fused forms where no Robin face
/// is left beside the factors.
/// @throws as make_kronecker_factors()
template <class T>
std::unique_ptr<LinearOperator<T, Host>> make_kronecker_operator(const BilinearForm& form);

/// Bytes held by the operator on the host.
Index kronecker_bytes(const BoxMesh& mesh, int degree, Index value_bytes);

}  // namespace tessera
