// This file inverts a small operator, and multiplies by the inverse on the host.
#include "solvers/preconditioners/dense_inverse.hpp"

#include <Eigen/Cholesky>
#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <limits>

#include "solvers/errors.hpp"
#include "solvers/interruption.hpp"
#include "solvers/sparse_rows.hpp"

namespace tessera {
namespace {

Eigen::MatrixXd dense_matrix(const LinearOperator<double, Host>& a) {
  const std::int64_t n = a.size();
  if (const auto* rows = dynamic_cast<const SparseRows<double>*>(&a)) {
    Eigen::MatrixXd matrix = Eigen::MatrixXd::Zero(n, n);
    std::vector<std::int64_t> columns(static_cast<std::size_t>(n));
    std::vector<double> values(static_cast<std::size_t>(n));
    for (std::int64_t i = 0; i < n; ++i) {
      rows->read_row(i, columns.data(), values.data());
      const auto length = static_cast<std::size_t>(rows->row_length(i));
      for (std::size_t k = 0; k < length; ++k) matrix(i, columns[k]) = values[k];
    }
    return matrix;
  }
  Eigen::MatrixXd matrix(n, n);
  HostVector<double> unit(n);
  HostVector<double> column(n);
  for (std::int64_t j = 0; j < n; ++j) {
    stop_if_requested();
    unit[j] = 1.0;
    a.apply(unit, column);
    unit[j] = 0.0;
    matrix.col(j) = Eigen::Map<const Eigen::VectorXd>(column.data(), n);
  }
  return matrix;
}

}  // namespace

std::vector<double> dense_inverse(const LinearOperator<double, Host>& a, NullSpace null_space) {
  const std::int64_t n = a.size();
  Eigen::MatrixXd matrix = dense_matrix(a);
  const auto size = static_cast<double>(n);
  // Any positive number will do; this one keeps the condition number.
  const double shift = matrix.trace() / (size * size);
  // If A maps the constants to rounding errors, they are treated as its null space.
  constexpr double kRounding = std::numeric_limits<double>::epsilon();
  if (!(matrix.sum() / size > kRounding * matrix.trace())) null_space = NullSpace::constants;
  if (null_space == NullSpace::constants) matrix.array() += shift;
  const Eigen::LLT<Eigen::MatrixXd> factors(matrix);
  if (!matrix.allFinite() || factors.info() != Eigen::Success ||
      !(factors.matrixLLT().diagonal().minCoeff() > 0.0)) {
    throw NumericalBreakdown("the operator of the coarsest level is not positive definite");
  }
  Eigen::MatrixXd inverse = Eigen::MatrixXd::Identity(n, n);
  // Of a size that depends on nothing, so that the bits do not depend on the number of threads.
  constexpr std::int64_t kColumns = 32;
#pragma omp parallel for schedule(static)
  for (std::int64_t first = 0; first < n; first += kColumns) {
    factors.solveInPlace(inverse.middleCols(first, std::min(kColumns, n - first)));
  }
  if (null_space == NullSpace::constants) inverse.array() -= 1.0 / (shift * size * size);
  // The inverse is symmetric up to rounding, but CG needs it to be symmetric exactly.
  const Eigen::MatrixXd symmetric = 0.5 * (inverse + inverse.transpose());
  return {symmetric.data(), symmetric.data() + n * n};
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
