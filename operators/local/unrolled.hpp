// The strategy local multiplies by precomputed dense matrices of cells.
#pragma once

#include <memory>

#include "operators/cells/scatter.hpp"
#include "operators/form/bilinear_form.hpp"
#include "operators/local/local.hpp"
#include "solvers/linear_operator.hpp"

namespace tessera {

/// A = sum_c P_c K_c P_c^T with precomputed local matrices. @throws std::bad_alloc
template <class T>
std::unique_ptr<LinearOperator<T, Host>> make_local_operator(
    const BilinearForm& form, std::shared_ptr<const CellBatches> batches,
    std::shared_ptr<GeometricFactors<T>> factors, std::unique_ptr<Scatter<T>> scatter);

}  // namespace tessera
