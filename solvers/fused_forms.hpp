#pragma once

#include "solvers/vector.hpp"

namespace tessera {

/// Coefficients of one step of Chebyshev's iteration (Saad, Iterative Methods for Sparse Linear
/// Systems, algorithm 12.1); momentum 0 is a step of damped Jacobi.
struct ChebyshevStep {
  double momentum;
  double scale;
};

/// What solvers do with A x, done in the pass over memory that makes it.
///
/// Scalars lie where the vectors do: pointers to them are into GPU memory on the GPU, where calls
/// return at once. Outputs must not be inputs unless said otherwise. Bytes are those of a DoF in
/// double precision with an operator that stores nothing.
template <class T, class Space>
class FusedForms {
 public:
  using V = Vector<T, Space>;
  virtual ~FusedForms() = default;

  /// y = A x, sums[0] = x.y, sums[1] = y.y; 16 B.
  virtual void apply_dot(const V& x, V& y, double* sums) const = 0;
  /// r = b - A x, *rr = r.r; 24 B. r may be b.
  virtual void residual(const V& b, const V& x, V& r, double* rr) const = 0;
  /// d = momentum d + scale diag(A)^-1 (b - A x), x_out = x + d; 40 B, 32 with momentum 0, which
  /// does not read d.
  virtual void chebyshev_step(ChebyshevStep step, const V& b, const V& x, V& d, V& x_out) const = 0;
};

}  // namespace tessera
