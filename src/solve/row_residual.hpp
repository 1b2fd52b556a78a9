// This function looks for rows of small coefficients in which a solve has not converged.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "solvers/linear_operator.hpp"
#include "solvers/preconditioners/residual.hpp"
#include "src/parameters/case_parameters.hpp"

namespace tessera {

/// An estimate of how far x may be from the solution, relative to x, in which each row counts
/// alike:
///
///     n^2 / 10 ||D^-1 (b - A x)|| / ||x||,   D = diag(A)
///
/// where n^2 / 10 is about the largest ratio of eigenvalues of D^-1 A with n nodes along the
/// longest axis. ||b - A x|| / ||b||, by which solvers stop, hears little of rows in which the
/// coefficient is much smaller than where b is large. 0 where x is 0.
///
/// Holds two vectors meanwhile. All ranks call it together.
template <class T, class Space>
double estimate_error_by_rows(const LinearOperator<T, Space>& a, const Vector<T, Space>& b,
                              const Vector<T, Space>& x, double n) {
  const double size = std::sqrt(dot(x, x));
  if (size == 0.0) return 0.0;
  Vector<T, Space> residual(a.layout());
  make_residual(a, b, x, residual);
  Vector<T, Space> inverse(a.layout());
  a.diagonal(inverse);
  invert_entries(inverse);
  multiply(inverse, residual, inverse);
  return 0.1 * n * n * std::sqrt(dot(inverse, inverse)) / size;
}

/// The largest estimate that is as good as one who asks for this residual may expect.
inline double allowed_error_by_rows(double relative_tolerance) {
  // In problems in which all rows of b are alike it is up to 200 times the tolerance.
  return std::max(1e-3, 1e4 * relative_tolerance);
}

/// The n of a case.
inline double nodes_along_longest(const CaseParameters& parameters) {
  const std::vector<std::int64_t>& cells = parameters.mesh.cells;
  return static_cast<double>(*std::max_element(cells.begin(), cells.end()) *
                             parameters.space.degree);
}

}  // namespace tessera
