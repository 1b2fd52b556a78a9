// These functions are what a case's method needs beside the operator: options and relaxation.
#pragma once

#include "solvers/krylov/methods.hpp"
#include "solvers/preconditioners/smoothing_passes.hpp"
#include "solvers/preconditioners/spectrum.hpp"
#include "src/parameters/case_parameters.hpp"
#include "src/solve/preconditioner_table.hpp"
#include "src/solve/solve.hpp"

namespace tessera {

inline SolveOptions solver_options(const SolverParameters& solver, const LinearSystem& system,
                                   const SolveListeners& listeners) {
  SolveOptions options;
  options.relative_tolerance = solver.relative_tolerance;
  options.reference_norm = system.reference_norm;
  options.max_iterations = solver.max_iterations;
  options.replacement_interval = solver.residual_replacement;
  options.observer = listeners.iteration;
  return options;
}

/// Typical size of an entry of the first residual, which has so many.
inline double residual_size(const LinearSystem& system, std::int64_t entries) {
  return system.reference_norm / std::sqrt(static_cast<double>(entries));
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

/// Those of the vector updates of conjugate gradients without a preconditioner, per DoF.
inline constexpr double kFlopsOfUpdate = 10.0;

/// Least traffic of the vector updates of an iteration, in vectors read or written; 0 where it is
/// not known.
template <class T, class Space>
double update_streams(const LinearOperator<T, Space>& a, const Preconditioner<T, Space>* m,
                      const CaseParameters& parameters) {
  if (parameters.solver.method != SolverMethod::cg) return 0.0;
  const bool fuses = a.fused() != nullptr;
  const bool on_gpu = kProcessorOf<Space> == Processor::gpu;
  if (m == nullptr) return fuses ? 6.0 : on_gpu ? 10.0 : 11.0;
  // z is read twice, in single precision it is half a vector.
  const double of_z = m->as_single() != nullptr ? 1.0 : 2.0;
  return of_z + (on_gpu ? (fuses ? 8.0 : 10.0) : (fuses ? 9.0 : 11.0));
}

}  // namespace tessera
