// This function makes the solver of a method.
#pragma once

#include <stdexcept>

#include "solvers/krylov/cg.hpp"
#include "solvers/krylov/cg_variants/pipelined_cg.hpp"
#include "solvers/krylov/cg_variants/single_reduction_cg.hpp"
#include "solvers/krylov/nonsymmetric/methods.hpp"
#include "solvers/krylov/richardson.hpp"

namespace tessera {

/// The solver of a method, with its vectors.
/// @param preconditioner may be null
/// @param omega of Richardson's iteration
/// @param restart of flexible GMRES
template <class T, class Space>
std::unique_ptr<Solver<T, Space>> make_solver(SolverMethod method,
                                              const LinearOperator<T, Space>& a,
                                              const Preconditioner<T, Space>* preconditioner,
                                              double omega = 1.0, int restart = kDefaultRestart) {
  switch (method) {
    case SolverMethod::cg:
      return make_cg(a, preconditioner);
    case SolverMethod::single_reduction_cg:
      return make_single_reduction_cg(a, preconditioner);
    case SolverMethod::pipelined_cg:
      return make_pipelined_cg(a, preconditioner);
    case SolverMethod::flexible_cg:
      return make_flexible_cg(a, preconditioner);
    case SolverMethod::richardson:
      return make_richardson(a, preconditioner, omega);
    case SolverMethod::flexible_gmres:
      return make_flexible_gmres(a, preconditioner, restart);
    case SolverMethod::bicgstab:
      return make_bicgstab(a, preconditioner);
  }
  throw std::logic_error("a method without a solver");
}

/// How often an iteration applies A, and M if there is one.
inline int applications_per_iteration(SolverMethod method) {
  return method == SolverMethod::bicgstab ? 2 : 1;
}

}  // namespace tessera
