// A dense inverse solves the coarsest level of a multigrid cycle.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "solvers/memory/device_array.hpp"
#include "solvers/preconditioner.hpp"
#include "solvers/sparse_rows.hpp"

namespace tessera {

/// What A maps to zero.
enum class NullSpace { none, constants };

/// The inverse [n][n] of a small symmetric positive definite operator. If the constants are its
/// null space, as the caller says or as the matrix shows up to rounding, the result is the
/// pseudo-inverse A^+ = (A + c 1 1^T)^-1 - 1 1^T / (c n^2), where 1 is the vector of ones. The
/// entries of A are its rows if it is one of SparseRows, else they come from its application to n
/// unit vectors; the inverse is by elimination, n^3 flops on all threads.
/// @throws NumericalBreakdown if A is not positive definite apart from its null space
std::vector<double> dense_inverse(const LinearOperator<double, Host>& a, NullSpace null_space);

/// The same of the rows of a sparse matrix, on the GPU and in its memory, 2 n^3 flops; rounded to T
/// at the end. @throws NumericalBreakdown likewise; DeviceError
template <class T>
DeviceArray<T> dense_inverse_on_device(const SparseRows<double>& a, std::int64_t n,
                                       NullSpace null_space);

/// n of a dense matrix with n^2 entries.
std::int64_t square_size(std::int64_t entries);

/// z = B r with a dense symmetric matrix B, [n][n].
template <class T, class Space>
class DenseMatrix;

template <class T>
class DenseMatrix<T, Host> final : public Preconditioner<T, Host> {
 public:
  explicit DenseMatrix(const std::vector<double>& entries)
      : size_(square_size(static_cast<std::int64_t>(entries.size()))),
        entries_(entries.begin(), entries.end()) {}
  /// Takes the entries of another matrix of the same size.
  void update(const std::vector<double>& entries) {
    TESSERA_CHECK(entries.size() == entries_.size());
    entries_.assign(entries.begin(), entries.end());
  }
  std::int64_t size() const override { return size_; }
  void do_apply(const HostVector<T>& r, HostVector<T>& z) const override;

 private:
  std::int64_t size_;
  std::vector<T> entries_;
};

/// On the GPU one warp takes a row, and n^2 sizeof(T) bytes come from the L2 cache. The product is
/// deterministic.
template <class T>
class DenseMatrix<T, Device> final : public Preconditioner<T, Device> {
 public:
  explicit DenseMatrix(DeviceArray<T> entries)
      : size_(square_size(entries.size())), entries_(std::move(entries)) {}
  /// Takes the entries of another matrix of the same size, in place. @throws DeviceError
  void update(const DeviceArray<T>& entries);
  std::int64_t size() const override { return size_; }
  void do_apply(const DeviceVector<T>& r, DeviceVector<T>& z) const override;

 private:
  std::int64_t size_;
  DeviceArray<T> entries_;
};

}  // namespace tessera
