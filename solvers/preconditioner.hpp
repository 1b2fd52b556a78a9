#pragma once

#include <cstdint>

#include "solvers/check.hpp"
#include "solvers/linear_operator.hpp"
#include "solvers/memory/vector.hpp"

namespace tessera {

/// An approximation of A^-1: z = M r.
///
/// It may own scratch memory, as a LinearOperator may: a call of apply() before the last has
/// returned, vectors of another size than size(), and r that is z end the program (check.hpp).
template <class T, class Space>
class Preconditioner {
 public:
  virtual ~Preconditioner() = default;

  /// Of the vectors; that of A.
  virtual std::int64_t size() const = 0;
  /// z = M r; what z held before does not matter.
  void apply(const Vector<T, Space>& r, Vector<T, Space>& z) const {
    TESSERA_CHECK(r.size() == size());
    TESSERA_CHECK(z.size() == size());
    TESSERA_CHECK(&r != &z);
    const OneUseAtATime::Use use(guard_);
    do_apply(r, z);
  }
  /// The entries of M where M is a diagonal matrix, so that a solver can multiply in passing; else
  /// null.
  const Vector<T, Space>* as_diagonal() const {
    const Vector<T, Space>* const entries = do_as_diagonal();
    TESSERA_CHECK(entries == nullptr || entries->size() == size());
    return entries;
  }

  /// What apply() does with vectors that were checked; call that instead.
  virtual void do_apply(const Vector<T, Space>& r, Vector<T, Space>& z) const = 0;
  /// What as_diagonal() returns.
  virtual const Vector<T, Space>* do_as_diagonal() const { return nullptr; }

 private:
  mutable OneUseAtATime guard_;
};

/// What a solver has to do for z = M r: nothing (no preconditioner), multiply in passing, or apply
/// M.
enum class PreconditionerKind { none, diagonal, general };

template <class T, class Space>
PreconditionerKind kind_of(const Preconditioner<T, Space>* m) {
  if (m == nullptr) return PreconditionerKind::none;
  return m->as_diagonal() != nullptr ? PreconditionerKind::diagonal : PreconditionerKind::general;
}

/// M = diag(A)^-1.
template <class T, class Space = Host>
class Jacobi final : public Preconditioner<T, Space> {
 public:
  explicit Jacobi(const LinearOperator<T, Space>& a) : inverse_(a.size()) {
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
