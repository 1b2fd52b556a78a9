// A Preconditioner approximates the inverse of an operator; Jacobi is the simplest one.
#pragma once

#include <cstdint>

#include "solvers/check.hpp"
#include "solvers/linear_operator.hpp"
#include "solvers/memory/vector.hpp"

namespace tessera {

/// A preconditioner of vectors in double precision that computes in single precision: z = M r is a
/// number times a vector in single precision, which solvers may read in place of z.
template <class Space>
class SinglePreconditioner {
 public:
  virtual ~SinglePreconditioner() = default;
  /// M r / scale(), which is there until M is applied again.
  virtual const Vector<float, Space>& apply_in_single(const Vector<double, Space>& r) const = 0;
  /// A power of 2.
  virtual double scale() const = 0;
};

/// An approximation of A^-1: z = M r.
///
/// It may own scratch memory, so that one call of apply() must have returned before the next one
/// begins. The program ends (check.hpp) if a call breaks this rule, if the size of a vector is not
/// size(), or if r is z.
template <class T, class Space>
class Preconditioner {
 public:
  virtual ~Preconditioner() = default;

  /// The size of the vectors, which is that of A.
  virtual std::int64_t size() const = 0;
  /// z = M r; what z held before does not matter.
  void apply(const Vector<T, Space>& r, Vector<T, Space>& z) const {
    TESSERA_CHECK(r.size() == size());
    TESSERA_CHECK(z.size() == size());
    TESSERA_CHECK(&r != &z);
    const OneUseAtATime::Use use(guard_);
    do_apply(r, z);
  }
  /// The entries of M where M is a diagonal matrix, so that a solver can multiply by them within a
  /// pass of its own; null otherwise.
  const Vector<T, Space>* as_diagonal() const {
    const Vector<T, Space>* const entries = do_as_diagonal();
    TESSERA_CHECK(entries == nullptr || entries->size() == size());
    return entries;
  }
  /// M where it computes in single precision, though T is double; null otherwise.
  virtual const SinglePreconditioner<Space>* as_single() const { return nullptr; }

  /// The work of apply(), which has checked the vectors; call that function instead.
  virtual void do_apply(const Vector<T, Space>& r, Vector<T, Space>& z) const = 0;
  /// What as_diagonal() returns.
  virtual const Vector<T, Space>* do_as_diagonal() const { return nullptr; }

 private:
  mutable OneUseAtATime guard_;
};

/// What a solver has to do for z = M r: nothing (no preconditioner), multiply by a diagonal, or
/// apply M.
enum class PreconditionerKind { none, diagonal, general };

template <class T, class Space>
PreconditionerKind kind_of(const Preconditioner<T, Space>* m) {
  if (m == nullptr) return PreconditionerKind::none;
  return m->as_diagonal() != nullptr ? PreconditionerKind::diagonal : PreconditionerKind::general;
}

/// Whether a solver that can read M r in single precision needs a vector for it all the same.
template <class T, class Space>
bool stores_correction(const Preconditioner<T, Space>* m) {
  return kind_of(m) == PreconditionerKind::general && m->as_single() == nullptr;
}

/// M = diag(A)^-1.
template <class T, class Space = Host>
class Jacobi final : public Preconditioner<T, Space> {
 public:
  explicit Jacobi(const LinearOperator<T, Space>& a) : inverse_(a.layout()) { update(a); }

  /// Takes the diagonal of an operator of the same size.
  void update(const LinearOperator<T, Space>& a) {
    a.diagonal(inverse_);
    invert_entries(inverse_);
  }

  std::int64_t size() const override { return inverse_.size(); }
  void do_apply(const Vector<T, Space>& r, Vector<T, Space>& z) const override {
    multiply(inverse_, r, z);
  }
  const Vector<T, Space>* do_as_diagonal() const override { return &inverse_; }

 private:
  Vector<T, Space> inverse_;
};

}  // namespace tessera
