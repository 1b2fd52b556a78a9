// These functions estimate the extreme eigenvalues of D^-1 A.
#pragma once

#include <cstddef>
#include <type_traits>
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

/// The Lanczos matrix of an iteration of CG, from the sums that the iteration makes in turn: r.z,
/// p.q, r.z, p.q and so on, z = D^-1 r and q = A p (Saad, Iterative Methods for Sparse Linear
/// Systems, section 6.7.3).
class LanczosMatrix {
 public:
  /// Takes r.z. @returns whether more than rounding is left of it, so that another step is of use
  /// @throws NumericalBreakdown unless it is finite
  bool take_residual_sum(double rz);
  /// Takes p.q. @returns whether it is positive, so that there is a step
  /// @throws NumericalBreakdown unless it is finite
  bool take_direction_sum(double pq);

  /// r.z / (r.z before), 0 at the start.
  double beta() const { return beta_; }
  /// r.z / p.q.
  double alpha() const { return alpha_; }
  /// @throws as tridiagonal_spectrum()
  Spectrum spectrum() const { return tridiagonal_spectrum(diagonal_, off_diagonal_); }

 private:
  std::vector<double> diagonal_;
  std::vector<double> off_diagonal_;
  double first_rz_ = 0.0;
  double rz_ = 0.0;
  double alpha_ = 0.0;
  double beta_ = 0.0;
};

/// The sums of so many steps of CG with a hashed right-hand side, queued on the GPU without waiting
/// in between: r.z first, then p.q and r.z of each step, [2 steps + 1]. What follows a sum that
/// allows no further step is without meaning. 10 vectors a step beside the application, 8 with
/// fused operations. Deterministic if the operator is.
/// @param r, p, q scratch
/// @throws DeviceError, Interrupted
template <class T>
std::vector<double> lanczos_sums(const LinearOperator<T, Device>& a,
                                 const DeviceVector<T>& inverse_diagonal, int steps,
                                 DeviceVector<T>& r, DeviceVector<T>& p, DeviceVector<T>& q);

/// Estimates the eigenvalues by the Lanczos matrix of `steps` iterations of CG, with the diagonal
/// as preconditioner and a hashed right-hand side. It takes as many applications of A, and fewer
/// steps if CG ends earlier.
/// @param inverse_diagonal the entries of D^-1
/// @param r, p, q scratch
/// @throws NumericalBreakdown if a number of the iteration is not finite, or no step is possible
/// @throws Interrupted
template <class T, class Space>
Spectrum estimate_spectrum(const LinearOperator<T, Space>& a,
                           const Vector<T, Space>& inverse_diagonal, int steps, Vector<T, Space>& r,
                           Vector<T, Space>& p, Vector<T, Space>& q) {
  LanczosMatrix matrix;
  if constexpr (std::is_same_v<Space, Device>) {
    if (a.layout().shared == nullptr) {
      const std::vector<double> sums = lanczos_sums(a, inverse_diagonal, steps, r, p, q);
      bool goes_on = matrix.take_residual_sum(sums[0]);
      for (std::size_t k = 1; goes_on && k < sums.size(); k += 2) {
        goes_on = matrix.take_direction_sum(sums[k]) && matrix.take_residual_sum(sums[k + 1]);
      }
      return matrix.spectrum();
    }
  }
  // z = D^-1 r is used up when q = A p is computed.
  Vector<T, Space>& z = q;
  fill_random(r);
  for (int step = 0;; ++step) {
    stop_together(a.layout());
    multiply(inverse_diagonal, r, z);
    if (!matrix.take_residual_sum(dot(r, z)) || step == steps) break;
    if (step == 0) {
      copy(z, p);
    } else {
      aypx(z, static_cast<T>(matrix.beta()), p);
    }
    a.apply(p, q);
    if (!matrix.take_direction_sum(dot(p, q))) break;
    axpy(static_cast<T>(-matrix.alpha()), q, r);
  }
  return matrix.spectrum();
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
