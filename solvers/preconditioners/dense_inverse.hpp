// A dense inverse solves the coarsest level of a multigrid cycle.
#pragma once

#include <cstdint>
#include <vector>

#include "solvers/execution.hpp"
#include "solvers/preconditioner.hpp"

namespace tessera {

/// What A maps to zero.
enum class NullSpace { none, constants };

/// The inverse [n][n] of a small symmetric positive definite operator. If the constants are its
/// null space, as the caller says or as the matrix shows up to rounding, the result is the
/// pseudo-inverse A^+ = (A + c 1 1^T)^-1 - 1 1^T / (c n^2), where 1 is the vector of ones. The
/// entries of A are its rows if it is one of SparseRows, else they come from its application to n
/// unit vectors; the inverse is by elimination, n^3 flops on all threads, or 2 n^3 on the GPU.
/// @throws NumericalBreakdown if A is not positive definite apart from its null space; DeviceError
std::vector<double> dense_inverse(const LinearOperator<double, Host>& a, NullSpace null_space,
                                  Processor where = Processor::cpu);

/// Turns a symmetric positive definite matrix [n][n] into -A^-1, on the GPU and in its memory for
/// the while. Entries (i, j) and (j, i) may differ in rounding. Returns whether all pivots were
/// positive and finite. @throws DeviceError
bool invert_on_device(std::vector<double>& matrix, std::int64_t n);

/// n of a dense matrix, [n][n].
std::int64_t square_size(const std::vector<double>& entries);

/// z = B r with a dense symmetric matrix B, [n][n].
template <class T, class Space>
class DenseMatrix;

template <class T>
class DenseMatrix<T, Host> final : public Preconditioner<T, Host> {
 public:
  explicit DenseMatrix(const std::vector<double>& entries)
      : size_(square_size(entries)), entries_(entries.begin(), entries.end()) {}
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
  explicit DenseMatrix(const std::vector<double>& entries)
      : size_(square_size(entries)), entries_(std::vector<T>(entries.begin(), entries.end())) {}
  void update(const std::vector<double>& entries) {
    TESSERA_CHECK(square_size(entries) == size_);
    const std::vector<T> rounded(entries.begin(), entries.end());
    copy_to_device(rounded.data(), entries_.bytes(), entries_.data());
  }
  std::int64_t size() const override { return size_; }
  void do_apply(const DeviceVector<T>& r, DeviceVector<T>& z) const override;

 private:
  std::int64_t size_;
  DeviceArray<T> entries_;
};

}  // namespace tessera
