// This file inverts a small operator, and multiplies by the inverse on the host.
#include "solvers/preconditioners/dense_inverse.hpp"

#include <omp.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "solvers/errors.hpp"
#include "solvers/interruption.hpp"
#include "solvers/preconditioners/constant_shift.hpp"
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

// Pivots that are taken at a time, so that the matrix goes through the cache less often.
constexpr std::int64_t kBlock = 8;
// Rows that are worked on together, of which a block has whole groups.
constexpr std::int64_t kRows = 4;
using Block = std::array<std::array<double, kBlock>, kBlock>;

// Inverts the first m rows and columns of a symmetric block; whether all pivots were positive and
// finite.
bool invert_block(Block& block, std::int64_t m) {
  for (std::int64_t k = 0; k < m; ++k) {
    const double pivot = block[k][k];
    if (!(pivot > 0.0 && std::isfinite(pivot))) return false;
    for (std::int64_t i = 0; i < m; ++i) {
      if (i == k) continue;
      const double factor = block[i][k] / pivot;
      for (std::int64_t j = 0; j < m; ++j) block[i][j] -= factor * block[k][j];
      block[i][k] = -factor;
    }
    for (std::int64_t j = 0; j < m; ++j) block[k][j] /= pivot;
    block[k][k] = 1.0 / pivot;
  }
  return true;
}

// The columns of a block of pivots, [kBlock][n], of a symmetric matrix of which rows up to the
// diagonal count; columns beyond m are zeros.
void take_columns(const std::vector<double>& matrix, std::int64_t n, std::int64_t first,
                  std::int64_t m, std::vector<double>& columns) {
  std::fill(columns.begin(), columns.end(), 0.0);
  for (std::int64_t c = 0; c < m; ++c) {
    const std::int64_t k = first + c;
    std::copy_n(matrix.data() + k * n, k + 1, columns.data() + c * n);
    for (std::int64_t j = k + 1; j < n; ++j) columns[c * n + j] = matrix[j * n + k];
  }
}

// What rows lose by a block of pivots: [row][c].
using Factors = std::array<std::array<double, kBlock>, kRows>;

// row_rj -= sum_c factors_rc columns_cj for j < end, of so many rows one after the other. Together
// they read the columns once.
template <int rows>
void eliminate(const Factors& factors, const double* columns, std::int64_t n, std::int64_t begin,
               std::int64_t end, double* row) {
#pragma omp simd
  for (std::int64_t j = begin; j < end; ++j) {
    double values[rows];
    for (int r = 0; r < rows; ++r) values[r] = row[r * n + j];
    for (std::int64_t c = 0; c < kBlock; ++c) {
      const double column = columns[c * n + j];
      for (int r = 0; r < rows; ++r) values[r] -= factors[r][c] * column;
    }
    for (int r = 0; r < rows; ++r) row[r * n + j] = values[r];
  }
}

// The same for rows from i on, each up to its diagonal.
void eliminate_rows(const Factors& factors, const double* columns, std::int64_t n, std::int64_t i,
                    std::int64_t count, double* matrix) {
  std::int64_t done = 0;
  if (count == kRows) {
    done = i + 1;
    eliminate<kRows>(factors, columns, n, 0, done, matrix + i * n);
  }
  for (std::int64_t r = 0; r < count; ++r) {
    eliminate<1>({factors[r]}, columns, n, done, i + r + 1, matrix + (i + r) * n);
  }
}

// With fewer rows a thread waits longer for the others than it works, where cores are busy.
int threads_for(std::int64_t rows) {
  constexpr std::int64_t kRowsPerThread = 192;
  return static_cast<int>(
      std::clamp<std::int64_t>(rows / kRowsPerThread, 1, omp_get_max_threads()));
}

// Inverts a symmetric matrix in place, of which only rows up to the diagonal count, by sweeps: for
// each block K of pivots
//   A_ij -= A_iK A_KK^-1 A_Kj, A_iK = A_iK A_KK^-1 (i, j not of K), A_KK = -A_KK^-1,
// which end with -A^-1 (Goodnight 1979, A tutorial on the SWEEP operator). Where the matrix is
// positive definite no exchange of rows is needed. The bits do not depend on the number of threads.
// Returns whether all pivots were positive and finite.
bool invert_in_place(std::vector<double>& matrix, std::int64_t n) {
  std::vector<double> columns(static_cast<std::size_t>(kBlock * n));
  constexpr int kGroupsAtATime = 4;
  for (std::int64_t first = 0; first < n; first += kBlock) {
    const std::int64_t m = std::min(kBlock, n - first);
    take_columns(matrix, n, first, m, columns);
    Block inverse{};
    for (std::int64_t c = 0; c < m; ++c) {
      for (std::int64_t d = 0; d < m; ++d) inverse[c][d] = columns[c * n + first + d];
    }
    if (!invert_block(inverse, m)) return false;
#pragma omp parallel for schedule(static, kGroupsAtATime) num_threads(threads_for(n))
    for (std::int64_t i = 0; i < n; i += kRows) {
      const std::int64_t count = std::min(kRows, n - i);
      Factors factors{};
      for (std::int64_t r = 0; r < count; ++r) {
        for (std::int64_t c = 0; c < m; ++c) {
          for (std::int64_t d = 0; d < m; ++d) {
            factors[r][c] += columns[d * n + i + r] * inverse[d][c];
          }
        }
      }
      if (i >= first && i < first + m) continue;
      eliminate_rows(factors, columns.data(), n, i, count, matrix.data());
      for (std::int64_t r = 0; r < count; ++r) {
        for (std::int64_t c = 0; c < m; ++c) {
          if (first + c < i) matrix[(i + r) * n + first + c] = factors[r][c];
        }
        // Rows of pivots have the other half; no thread reads or writes the same entry.
        if (i < first) {
          for (std::int64_t c = 0; c < m; ++c) matrix[(first + c) * n + i + r] = factors[r][c];
        }
      }
    }
    for (std::int64_t c = 0; c < m; ++c) {
      for (std::int64_t d = 0; d <= c; ++d) matrix[(first + c) * n + first + d] = -inverse[c][d];
    }
  }
  return true;
}

// Turns -A^-1, of which entries up to the diagonal count, into A^-1. Columns are written in blocks,
// whose lines stay in the cache.
void negate_and_mirror(std::vector<double>& matrix, std::int64_t n) {
  constexpr std::int64_t kLines = 32;
  for (std::int64_t first = 0; first < n; first += kLines) {
    for (std::int64_t j = 0; j < std::min(first + kLines, n); ++j) {
      for (std::int64_t i = std::max(first, j); i < std::min(first + kLines, n); ++i) {
        matrix[i * n + j] = -matrix[i * n + j];
        matrix[j * n + i] = matrix[i * n + j];
      }
    }
  }
}

}  // namespace

std::vector<double> dense_inverse(const LinearOperator<double, Host>& a, NullSpace null_space) {
  const std::int64_t n = a.size();
  std::vector<double> matrix = dense_matrix(a);
  double trace = 0.0;
  for (std::int64_t i = 0; i < n; ++i) trace += matrix[i * n + i];
  const double sum = std::accumulate(matrix.begin(), matrix.end(), 0.0);
  const ConstantShift shift = constant_shift(trace, sum, n, null_space);
  const auto add_to_all = [&](double value) {
    for (double& entry : matrix) entry += value;
  };
  if (shift.of_matrix != 0.0) add_to_all(shift.of_matrix);
  if (!invert_in_place(matrix, n)) {
    throw NumericalBreakdown("the operator of the coarsest level is not positive definite");
  }
  negate_and_mirror(matrix, n);
  if (shift.of_inverse != 0.0) add_to_all(shift.of_inverse);
  return matrix;
}

std::int64_t square_size(std::int64_t entries) {
  const auto n = static_cast<std::int64_t>(std::llround(std::sqrt(static_cast<double>(entries))));
  TESSERA_CHECK(n * n == entries);
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
