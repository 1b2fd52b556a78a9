#pragma once

#include "solvers/linear_operator.hpp"
#include "solvers/vector.hpp"

namespace tessera {

/// An approximation of A^-1: z = M r.
template <class T, class Space>
class Preconditioner {
 public:
  virtual ~Preconditioner() = default;

  virtual void apply(const Vector<T, Space>& r, Vector<T, Space>& z) const = 0;
};

/// M = diag(A)^-1.
template <class T>
class Jacobi final : public Preconditioner<T, Host> {
 public:
  explicit Jacobi(const LinearOperator<T, Host>& a) : inverse_(a.size()) {
    a.diagonal(inverse_);
    invert_entries(inverse_);
  }

  void apply(const HostVector<T>& r, HostVector<T>& z) const override { multiply(inverse_, r, z); }

 private:
  HostVector<T> inverse_;
};

}  // namespace tessera
