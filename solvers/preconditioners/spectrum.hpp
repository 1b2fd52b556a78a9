// These functions estimate the extreme eigenvalues of D^-1 A.
#pragma once

#include <cmath>
#include <utility>
#include <vector>

#include "solvers/linear_operator.hpp"
#include "solvers/preconditioners/smoothing_passes.hpp"
#include "solvers/ranks/stop_together.hpp"

namespace tessera {

/// Estimates of the extreme eigenvalues of D^-1 A, D the diagonal of A. `largest` is a lower bound
/// that is a few percent low after ten steps. `bound` is `largest` with the norm of its residual
/// (Zhou, Li 2011, Bounding the spectrum of large Hermitian matrices), which is no strict bound: as
/// measured after twelve steps, the largest eigenvalue is at most 1.3 % above it on meshes whose
/// cells are similar, and up to 8 % where a map squeezes a few cells. `smallest` is an upper bound,
/// which is far too large unless there are many steps.
struct Spectrum {
  double smallest = 0.0;
  double largest = 0.0;
  double bound = 0.0;
  int steps = 0;
};

/// Extreme eigenvalues of the symmetric tridiagonal matrix [n].
/// @param off_diagonal [n - 1], or [n] for the start of a larger matrix: the last one is the entry
///   beside the next row, which `bound` is about
/// @throws NumericalBreakdown if the eigenvalues cannot be found (a NaN)
Spectrum tridiagonal_spectrum(const std::vector<double>& diagonal,
                              const std::vector<double>& off_diagonal);

/// @throws NumericalBreakdown unless this number of an estimate is finite
void require_finite(double value);

/// Estimates the eigenvalues by the Lanczos matrix of `steps` iterations of CG, with the diagonal
/// as preconditioner and a hashed right-hand side (Saad, Iterative Methods for Sparse Linear
/// Systems, section 6.7.3). It takes as many applications of A, and fewer steps if CG ends earlier.
/// @param inverse_diagonal the entries of D^-1
/// @param r, p, q scratch
/// @throws NumericalBreakdown if a number of the iteration is not finite, or no step is possible
/// @throws Interrupted
template <class T, class Space>
Spectrum estimate_spectrum(const LinearOperator<T, Space>& a,
                           const Vector<T, Space>& inverse_diagonal, int steps, Vector<T, Space>& r,
                           Vector<T, Space>& p, Vector<T, Space>& q) {
  // z = D^-1 r is used up when q = A p is computed.
  Vector<T, Space>& z = q;
  fill_random(r);
  std::vector<double> diagonal;
  std::vector<double> off_diagonal;
  // Below this share of the first residual there is only rounding.
  constexpr double kRounding = 1e-12;
  double first_rz = 0.0;
  double rz = 0.0;
  double alpha = 0.0;
  for (int step = 0;; ++step) {
    stop_together(a.layout());
    multiply(inverse_diagonal, r, z);
    const double last_rz = std::exchange(rz, dot(r, z));
    // What was estimated before is no answer: the operator or its diagonal is at fault.
    require_finite(rz);
    if (step == 0) first_rz = rz;
    if (!(rz > kRounding * first_rz)) break;
    const double beta = step == 0 ? 0.0 : rz / last_rz;
    if (step > 0) off_diagonal.push_back(std::sqrt(beta) / alpha);
    if (step == steps) break;
    if (step == 0) {
      copy(z, p);
    } else {
      aypx(z, static_cast<T>(beta), p);
    }
    a.apply(p, q);
    const double pq = dot(p, q);
    require_finite(pq);
    if (!(pq > 0.0)) break;
    const double last_alpha = std::exchange(alpha, rz / pq);
    diagonal.push_back(1.0 / alpha + (step == 0 ? 0.0 : beta / last_alpha));
    axpy(static_cast<T>(-alpha), q, r);
  }
  return tridiagonal_spectrum(diagonal, off_diagonal);
}

/// The same with scratch of its own.
template <class T, class Space>
Spectrum estimate_spectrum(const LinearOperator<T, Space>& a,
                           const Vector<T, Space>& inverse_diagonal, int steps) {
  Vector<T, Space> r(a.layout());
  Vector<T, Space> p(a.layout());
  Vector<T, Space> q(a.layout());
  return estimate_spectrum(a, inverse_diagonal, steps, r, p, q);
}

}  // namespace tessera
