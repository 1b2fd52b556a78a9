// This function keeps a preconditioner in single precision within its range.
#pragma once

#include <cmath>

#include "solvers/krylov/methods.hpp"
#include "solvers/solver.hpp"
#include "src/solve/preconditioning.hpp"

namespace tessera {

/// How many entries a vector has; of one that ranks share, on all of them.
template <class Space>
double entry_count(const Vector<double, Space>& x) {
  return static_cast<double>(x.layout().whole_size());
}

/// Tells the preconditioner, where that matters to it, of the size of an entry of residuals, if it
/// is far from the size before, and the solver that it has changed. Single precision has room for
/// residuals of many sizes.
template <class Space>
void adapt_to_size(double size, double& residual_size,
                   const PreconditionerSetup<double, Space>& preconditioner,
                   Solver<double, Space>& solver) {
  constexpr double kRoom = 0x1p20;
  if (!preconditioner.set_residual_size) return;
  if (size <= kRoom * residual_size && size >= residual_size / kRoom) return;
  residual_size = size;
  preconditioner.set_residual_size(size);
  solver.update();
}

/// The same with the size of entries of what the preconditioner is given while A x = b is solved:
/// of residuals, which begin with b, or of the basis of flexible GMRES, vectors of length 1.
/// @param norm() |b|
template <class Space, class Norm>
void adapt_to_size_of(const Vector<double, Space>& b, Norm norm, SolverMethod method,
                      double& residual_size,
                      const PreconditionerSetup<double, Space>& preconditioner,
                      Solver<double, Space>& solver) {
  if (!preconditioner.set_residual_size) return;
  const double length = method == SolverMethod::flexible_gmres ? 1.0 : norm();
  adapt_to_size(length / std::sqrt(entry_count(b)), residual_size, preconditioner, solver);
}

}  // namespace tessera
