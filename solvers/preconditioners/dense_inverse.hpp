// A dense inverse solves the coarsest level of a multigrid cycle.
#pragma once

#include <vector>

#include "solvers/preconditioner.hpp"

namespace tessera {

/// What A maps to zero.
enum class NullSpace { none, constants };

/// [n][n], the inverse of a small symmetric positive definite operator; with the constants as null
/// space, given or found to be it but for rounding, its pseudo-inverse, for which 1 is the vector
/// of ones: A^+ = (A + c 1 1^T)^-1 - 1 1^T / (c n^2). Columns by application to unit vectors, then
/// a dense LDL^T; about n applications and n^3 flops.
/// @throws NumericalBreakdown if A is not positive definite on the rest
std::vector<double> dense_inverse(const LinearOperator<double, Host>& a, NullSpace null_space);

/// z = B r with a dense symmetric matrix B, [n][n].
template <class T, class Space>
class DenseMatrix;

template <class T>
class DenseMatrix<T, Host> final : public Preconditioner<T, Host> {
 public:
  explicit DenseMatrix(const std::vector<double>& entries)
      : entries_(entries.begin(), entries.end()) {}
  void apply(const HostVector<T>& r, HostVector<T>& z) const override;

 private:
  std::vector<T> entries_;
};

/// On the GPU: one warp a row; n^2 sizeof(T) bytes from the L2 cache. Deterministic.
template <class T>
class DenseMatrix<T, Device> final : public Preconditioner<T, Device> {
 public:
  explicit DenseMatrix(const std::vector<double>& entries)
      : entries_(std::vector<T>(entries.begin(), entries.end())) {}
  void apply(const DeviceVector<T>& r, DeviceVector<T>& z) const override;

 private:
  DeviceArray<T> entries_;
};

}  // namespace tessera
