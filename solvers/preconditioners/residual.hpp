// This function computes residuals.
#pragma once

#include "solvers/fused_operations.hpp"
#include "solvers/linear_operator.hpp"
#include "solvers/preconditioners/smoothing_passes.hpp"

namespace tessera {

/// r = b - A x for r other than b. Reads 2 vectors and writes 1 with fused operations, else reads
/// and writes 2 more.
template <class T, class Space>
void make_residual(const LinearOperator<T, Space>& a, const Vector<T, Space>& b,
                   const Vector<T, Space>& x, Vector<T, Space>& r) {
  if (const FusedOperations<T, Space>* const fused = a.fused(); fused != nullptr) {
    fused->residual(b, x, r, nullptr);
    return;
  }
  a.apply(x, r);
  subtract_in_place(b, r);
}

}  // namespace tessera
