// These functions call the method that a case names.
#pragma once

#include <stdexcept>

#include "solvers/krylov/pipelined_cg.hpp"
#include "solvers/krylov/richardson.hpp"
#include "solvers/krylov/single_reduction_cg.hpp"
#include "solvers/preconditioners/smoothing_passes.hpp"
#include "solvers/preconditioners/spectrum.hpp"
#include "src/parameters/case_parameters.hpp"
#include "src/solve/preconditioner_table.hpp"
#include "src/solve/solve.hpp"

namespace tessera {

inline CgOptions solver_options(const SolverParameters& solver, const LinearSystem& system,
                                const SolveListeners& listeners) {
  CgOptions options;
  options.relative_tolerance = solver.relative_tolerance;
  options.reference_norm = system.reference_norm;
  options.max_iterations = solver.max_iterations;
  options.replacement_interval = solver.residual_replacement;
  options.observer = listeners.iteration;
  return options;
}

/// Typical size of an entry of the first residual.
inline double residual_size(const LinearSystem& system) {
  return system.reference_norm / std::sqrt(static_cast<double>(system.b.size()));
}

/// Relaxation of Richardson's iteration where that is the method: 1, but with a diagonal
/// preconditioner what lets all errors fall, by an estimate of the largest eigenvalue.
template <class T, class Space>
double relaxation(SolverMethod method, const LinearOperator<T, Space>& a,
                  const Preconditioner<T, Space>* m) {
  if (method != SolverMethod::richardson || m->as_diagonal() == nullptr) return 1.0;
  constexpr double kTarget = 1.5;
  return kTarget / estimate_spectrum(a, *m->as_diagonal(), kEigenvalueSteps).largest;
}

/// Solves A x = b by the method of the case.
/// @param omega of Richardson's iteration
template <class T, class Space>
SolveReport solve_by_method(SolverMethod method, const LinearOperator<T, Space>& a,
                            const Preconditioner<T, Space>* m, const Vector<T, Space>& b,
                            Vector<T, Space>& x, double omega, const CgOptions& options) {
  switch (method) {
    case SolverMethod::cg:
      return cg(a, m, b, x, options);
    case SolverMethod::single_reduction_cg:
      return single_reduction_cg(a, m, b, x, options);
    case SolverMethod::pipelined_cg:
      return pipelined_cg(a, m, b, x, options);
    case SolverMethod::flexible_cg:
      return flexible_cg(a, m, b, x, options);
    case SolverMethod::richardson:
      return richardson(a, m, b, x, omega, options);
  }
  throw std::logic_error("a method without a solver");
}

/// Least traffic of the vector updates of an iteration, in vectors read or written; 0 where it is
/// not known.
template <class T>
double update_streams(const LinearOperator<T, Host>& a, const CaseParameters& parameters) {
  if (parameters.solver.method != SolverMethod::cg) return 0.0;
  const PreconditionerKind kind = preconditioner_row(parameters.solver.preconditioner).kind;
  const bool is_plain = kind == PreconditionerKind::none;
  if (is_plain) return a.fused() != nullptr ? 7.0 : 11.0;
  return a.fused() != nullptr ? 11.0 : 13.0;
}
template <class T>
double update_streams(const LinearOperator<T, Device>& a, const CaseParameters& parameters) {
  if (parameters.solver.method != SolverMethod::cg) return 0.0;
  switch (preconditioner_row(parameters.solver.preconditioner).kind) {
    case PreconditionerKind::none:
      return a.fused() != nullptr ? 6.5 : 10.0;
    case PreconditionerKind::diagonal:
      return 12.0;
    case PreconditionerKind::general:
      return a.fused() != nullptr ? 10.0 : 12.0;
  }
  throw std::logic_error("a kind of preconditioner whose vector updates are not counted");
}

}  // namespace tessera
