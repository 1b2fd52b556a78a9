// This file inverts a small operator, and multiplies by the inverse on the host.
#include "solvers/preconditioners/dense_inverse.hpp"

#include <omp.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>

#include "solvers/errors.hpp"
#include "solvers/interruption.hpp"
#include "solvers/sparse_rows.hpp"

namespace tessera {
namespace {

// Entries [n][n].
std::vector<double> dense_matrix(const LinearOperator<double, Host>& a) {
  const std::int64_t n = a.size();
  std::vector<double> matrix(static_cast<std::size_t>(n * n));
  if (const auto* rows = dynamic_cast<const SparseRows<double>*>(&a)) {
    std::vector<std::int64_t> columns(static_cast<std::size_t>(n));
    std::vector<double> values(static_cast<std::size_t>(n));
    for (std::int64_t i = 0; i < n; ++i) {
      rows->read_row(i, columns.data(), values.data());
      const auto length = static_cast<std::size_t>(rows->row_length(i));
      for (std::size_t k = 0; k < length; ++k) matrix[i * n + columns[k]] = values[k];
    }
    return matrix;
  }
  HostVector<double> unit(n);
  HostVector<double> column(n);
  for (std::int64_t j = 0; j < n; ++j) {
    stop_if_requested();
    unit[j] = 1.0;
    a.apply(unit, column);
    unit[j] = 0.0;
    for (std::int64_t i = 0; i < n; ++i) matrix[i * n + j] = column[i];
  }
  return matrix;
}

int threads_for(std::int64_t useful) {
  return static_cast<int>(std::clamp<std::int64_t>(useful, 1, omp_get_max_threads()));
}

// Inverts a symmetric matrix in place, of which only rows up to the diagonal count, by sweeps: for
// each pivot k
//   a_ij -= a_ik a_kj / a_kk, a_ik /= a_kk (i, j != k), a_kk = -1 / a_kk,
// which end with -A^-1 (Goodnight 1979, A tutorial on the SWEEP operator). Where the matrix is
// positive definite no exchange of rows is needed. A thread keeps its rows, so that they stay in
// its cache; the bits do not depend on the number of threads. Returns whether all pivots were
// positive and finite.
bool invert_in_place(std::vector<double>& matrix, std::int64_t n) {
  // Row and column k as they are before step k, for steps in turns: while some threads are still at
  // step k, others save what they have of the next.
  std::array<std::vector<double>, 2> saved;
  for (std::vector<double>& row : saved) row.assign(static_cast<std::size_t>(n), 0.0);
  for (std::int64_t i = 0; i < n; ++i) saved[0][i] = matrix[i * n];
  bool is_definite = true;
  // A step is so short that the barrier after it pays for many rows only.
  constexpr std::int64_t kRowsPerThread = 200;
#pragma omp parallel num_threads(threads_for(n / kRowsPerThread - 2))
  {
    const std::int64_t thread = omp_get_thread_num();
    const std::int64_t threads = omp_get_num_threads();
    for (std::int64_t k = 0; k < n; ++k) {
      const double* const of_pivot = saved[k % 2].data();
      double* const of_next = saved[(k + 1) % 2].data();
      const double pivot = of_pivot[k];
      if (!(pivot > 0.0 && std::isfinite(pivot))) {
        if (thread == 0) is_definite = false;
        break;
      }
      for (std::int64_t i = thread; i < n; i += threads) {
        double* const row = matrix.data() + i * n;
        if (i == k) {
          for (std::int64_t j = 0; j < k; ++j) row[j] = of_pivot[j] / pivot;
          row[k] = -1.0 / pivot;
        } else {
          const double factor = of_pivot[i] / pivot;
#pragma omp simd
          for (std::int64_t j = 0; j <= i; ++j) row[j] -= factor * of_pivot[j];
          if (k < i) row[k] = factor;
        }
        if (i == k + 1) std::copy_n(row, i + 1, of_next);
        if (i > k + 1) of_next[i] = row[k + 1];
      }
#pragma omp barrier
    }
  }
  return is_definite;
}

}  // namespace

std::vector<double> dense_inverse(const LinearOperator<double, Host>& a, NullSpace null_space) {
  const std::int64_t n = a.size();
  std::vector<double> matrix = dense_matrix(a);
  double trace = 0.0;
  for (std::int64_t i = 0; i < n; ++i) trace += matrix[i * n + i];
  const double sum = std::accumulate(matrix.begin(), matrix.end(), 0.0);
  const auto size = static_cast<double>(n);
  // Any positive number will do; this one keeps the condition number.
  const double shift = trace / (size * size);
  // If A maps the constants to rounding errors, they are treated as its null space.
  constexpr double kRounding = std::numeric_limits<double>::epsilon();
  if (!(sum / size > kRounding * trace)) null_space = NullSpace::constants;
  const auto add_to_all = [&](double value) {
    for (double& entry : matrix) entry += value;
  };
  if (null_space == NullSpace::constants) add_to_all(shift);
  if (!invert_in_place(matrix, n)) {
    throw NumericalBreakdown("the operator of the coarsest level is not positive definite");
  }
  for (std::int64_t i = 0; i < n; ++i) {
    for (std::int64_t j = 0; j <= i; ++j) {
      matrix[i * n + j] = -matrix[i * n + j];
      matrix[j * n + i] = matrix[i * n + j];
    }
  }
  if (null_space == NullSpace::constants) add_to_all(-1.0 / (shift * size * size));
  return matrix;
}

std::int64_t square_size(const std::vector<double>& entries) {
  const auto count = static_cast<std::int64_t>(entries.size());
  const auto n = static_cast<std::int64_t>(std::llround(std::sqrt(static_cast<double>(count))));
  TESSERA_CHECK(n * n == count);
  return n;
}

template <class T>
void DenseMatrix<T, Host>::do_apply(const HostVector<T>& r, HostVector<T>& z) const {
  const std::int64_t n = r.size();
#pragma omp parallel for schedule(static)
  for (std::int64_t i = 0; i < n; ++i) {
    const T* const row = entries_.data() + i * n;
    T sum{0};
#pragma omp simd reduction(+ : sum)
    for (std::int64_t j = 0; j < n; ++j) sum += row[j] * r[j];
    z[i] = sum;
  }
}

template class DenseMatrix<double, Host>;
template class DenseMatrix<float, Host>;

}  // namespace tessera
