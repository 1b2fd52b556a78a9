#pragma once

#include "solvers/vector.hpp"

namespace tessera {

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
};

}  // namespace tessera
