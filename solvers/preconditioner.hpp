// A Preconditioner approximates the inverse of an operator; Jacobi is the simplest one.
#pragma once

#include "solvers/linear_operator.hpp"
#include "solvers/memory/vector.hpp"

namespace tessera {

/// An approximation of A^-1: z = M r.
template <class T, class Space>
class Preconditioner {
 public:
  virtual ~Preconditioner() = default;

  virtual void apply(const Vector<T, Space>& r, Vector<T, Space>& z) const = 0;
  /// The entries of M where M is a diagonal matrix, so that a solver can multiply by them within a
  /// pass of its own; null otherwise.
  virtual const Vector<T, Space>* as_diagonal() const { return nullptr; }
};

/// What a solver has to do for z = M r: nothing (no preconditioner), multiply by a diagonal, or
/// apply M.
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

  void apply(const Vector<T, Space>& r, Vector<T, Space>& z) const override {
    multiply(inverse_, r, z);
  }
  const Vector<T, Space>* as_diagonal() const override { return &inverse_; }

 private:
  Vector<T, Space> inverse_;
};

}  // namespace tessera
