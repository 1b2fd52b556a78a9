// These functions compute residuals.
#pragma once

#include <type_traits>

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

/// The same on the host; returns r.r. Reads 3 vectors and writes 1 with fused operations.
template <class T>
double residual_square(const LinearOperator<T, Host>& a, const HostVector<T>& b,
                       const HostVector<T>& x, HostVector<T>& r) {
  if (const FusedOperations<T, Host>* const fused = a.fused(); fused != nullptr) {
    double square = 0.0;
    fused->residual(b, x, r, &square);
    return square;
  }
  a.apply(x, r);
  return subtract_from(b, r);
}

/// The same anywhere.
/// @param scalar scratch of one number, which is where the vectors are
template <class T, class Space>
double residual_square(const LinearOperator<T, Space>& a, const Vector<T, Space>& b,
                       const Vector<T, Space>& x, Vector<T, Space>& r,
                       Vector<double, Space>& scalar) {
  if constexpr (std::is_same_v<Space, Host>) {
    return residual_square(a, b, x, r);
  } else {
    const FusedOperations<T, Space>* const fused = a.fused();
    if (fused == nullptr) {
      make_residual(a, b, x, r);
      return dot(r, r);
    }
    fused->residual(b, x, r, scalar.data());
    double square = 0.0;
    copy_to_host(scalar.data(), sizeof(square), &square);
    return square;
  }
}

}  // namespace tessera
