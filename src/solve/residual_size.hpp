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

/// Whether a method gives its preconditioner residuals, which begin with b: flexible GMRES gives it
/// vectors of length 1, whatever b is.
inline bool gives_residuals(SolverMethod method) { return method != SolverMethod::flexible_gmres; }

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

/// The same with the size that entries of b have.
template <class Space>
void adapt_to_size_of(const Vector<double, Space>& b, double& residual_size,
                      const PreconditionerSetup<double, Space>& preconditioner,
                      Solver<double, Space>& solver) {
  if (!preconditioner.set_residual_size) return;
  adapt_to_size(std::sqrt(dot(b, b) / entry_count(b)), residual_size, preconditioner, solver);
}

}  // namespace tessera
