// FusedOperations are what solvers do with A x in the same pass over memory that computes it.
#pragma once

#include <memory>

#include "solvers/check.hpp"
#include "solvers/krylov/resident_cg.hpp"
#include "solvers/memory/vector.hpp"

namespace tessera {

/// Operations of solvers on A x, done in the same pass over memory that computes it.
///
/// Scalars lie where the vectors lie: on the GPU, pointers to scalars point into GPU memory, and
/// calls return at once. Outputs must not be inputs unless said otherwise, all vectors must have
/// the size of the operator, and one call must have returned before the next one begins; otherwise
/// the program ends (check.hpp). Bytes are per DoF in double precision, for an operator that stores
/// nothing.
template <class T, class Space>
class FusedOperations {
 public:
  using V = Vector<T, Space>;
  virtual ~FusedOperations() = default;

  /// y = A x, sums[0] = x.y, sums[1] = y.y; 16 B.
  void apply_dot(const V& x, V& y, double* sums) const {
    TESSERA_CHECK(x.size() == y.size());
    TESSERA_CHECK(&x != &y);
    const OneUseAtATime::Use use(guard_);
    do_apply_dot(x, y, sums);
  }
  /// Whether ranks share the vectors, whose sums can take another one along.
  virtual bool takes_sums_along() const { return false; }
  /// As apply_dot(), and sums[2] = the sum over ranks of *mine, in the same message; only where
  /// takes_sums_along().
  void apply_dot_and_sum(const V& x, V& y, const double* mine, double* sums) const {
    TESSERA_CHECK(takes_sums_along());
    TESSERA_CHECK(x.size() == y.size());
    TESSERA_CHECK(&x != &y);
    const OneUseAtATime::Use use(guard_);
    do_apply_dot_and_sum(x, y, mine, sums);
  }
  /// r = b - A x, *rr = r.r; 24 B. r may be b.
  /// @param rr null if nobody asks for the sum
  void residual(const V& b, const V& x, V& r, double* rr) const {
    TESSERA_CHECK(x.size() == r.size());
    TESSERA_CHECK(b.size() == r.size());
    TESSERA_CHECK(&x != &r);
    const OneUseAtATime::Use use(guard_);
    do_residual(b, x, r, rr);
  }

  /// Whether there is a step() that is faster than apply() and a pass over what it makes.
  virtual bool has_step() const { return false; }
  /// y = x + scale D (b - A x); 32 B. Only where has_step().
  /// @param d the entries of a diagonal matrix D
  void step(T scale, const V& d, const V& b, const V& x, V& y) const {
    TESSERA_CHECK(has_step());
    TESSERA_CHECK(x.size() == y.size());
    TESSERA_CHECK(b.size() == y.size());
    TESSERA_CHECK(d.size() == y.size());
    TESSERA_CHECK(&y != &x && &y != &b && &y != &d);
    const OneUseAtATime::Use use(guard_);
    do_step(scale, d, b, x, y);
  }

  /// Conjugate gradients on A in one kernel, or null where there are none or the vectors do not fit
  /// into the GPU's multiprocessors. It refers to this operator. @throws DeviceError
  virtual std::unique_ptr<ResidentCg<T>> make_resident_cg() const { return nullptr; }

  /// The work of apply_dot() and residual(), which have checked the vectors; call those functions
  /// instead.
  virtual void do_apply_dot(const V& x, V& y, double* sums) const = 0;
  virtual void do_residual(const V& b, const V& x, V& r, double* rr) const = 0;
  virtual void do_step(T /*scale*/, const V& /*d*/, const V& /*b*/, const V& /*x*/,
                       V& /*y*/) const {}
  virtual void do_apply_dot_and_sum(const V& /*x*/, V& /*y*/, const double* /*mine*/,
                                    double* /*sums*/) const {}

 private:
  mutable OneUseAtATime guard_;
};

}  // namespace tessera
