// This function looks for rows of small coefficients in which a solve has not converged.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <new>
#include <string>
#include <vector>

#include "solvers/linear_operator.hpp"
#include "solvers/memory/device.hpp"
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

/// What is to be said of a solve that has converged in the norm of b alone; empty if that is all.
/// All ranks call it together.
template <class T, class Space>
std::string note_on_rows(const LinearOperator<T, Space>& a, const Vector<T, Space>& b,
                         const Vector<T, Space>& x, const CaseParameters& parameters) {
  const std::vector<std::int64_t>& cells = parameters.mesh.cells;
  const double n =
      static_cast<double>(*std::max_element(cells.begin(), cells.end()) * parameters.space.degree);
  double error = 0.0;
  const auto out_of_memory = [&]() -> std::string {
    // Others may be in the midst of it.
    if (parameters.run.processes > 1) throw;
    return "there is no memory left to see whether rows of small coefficients have converged";
  };
  try {
    error = estimate_error_by_rows(a, b, x, n);
  } catch (const std::bad_alloc&) {
    return out_of_memory();
  } catch (const DeviceOutOfMemory&) {
    return out_of_memory();
  }
  // In problems in which all rows of b are alike it is up to 200 times the tolerance.
  if (!(error > std::max(1e-3, 1e4 * parameters.solver.relative_tolerance))) return "";
  return fmt::format(
      "the residual is small beside b as a whole, but not in rows where the coefficient is: there "
      "u may be wrong by about {:.1g} of its size; solver.preconditioner = \"multigrid\" or a "
      "smaller solver.relative_tolerance helps",
      std::min(error, 1.0));
}

}  // namespace tessera
