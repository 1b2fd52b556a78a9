#pragma once

#include <fmt/format.h>

#include <cmath>
#include <utility>

#include "solvers/chebyshev.hpp"
#include "solvers/spectrum.hpp"
#include "src/preconditioning.hpp"

namespace tessera {

template <class T, class Space>
MadePreconditioner<T, Space> chebyshev_of(const ChebyshevParameters& parameters,
                                          const LinearOperator<T, Space>& a) {
  Vector<T, Space> inverse(a.size());
  a.diagonal(inverse);
  invert_entries(inverse);
  const Spectrum spectrum = estimate_spectrum(a, inverse, kEigenvalueSteps);
  const double largest = kEigenvalueSafety * spectrum.largest;
  MadePreconditioner<T, Space> made;
  made.notes.push_back(fmt::format(
      "largest eigenvalue of D^-1 A about {:.4g} ({} Lanczos steps); polynomial of "
      "degree {} for {:.4g} to {:.4g}",
      spectrum.largest, spectrum.steps, parameters.degree, largest / parameters.range, largest));
  made.preconditioner = std::make_unique<Chebyshev<T, Space>>(
      a, std::move(inverse),
      chebyshev_steps(parameters.degree, largest / parameters.range, largest));
  return made;
}

template <class C, class T, class Space>
MadeMultigrid<C, Space> make_cycle(const StiffnessForm& form, const MultigridOptions& options,
                                   const LinearOperator<T, Space>& a) {
  const LinearOperator<C, Space>* finest = nullptr;
  if constexpr (std::is_same_v<C, T>) finest = &a;
  if constexpr (std::is_same_v<Space, Host>) {
    return make_multigrid<C>(form, options, finest);
  } else {
    return make_device_multigrid<C>(form, options, finest);
  }
}

template <class C, class T, class Space>
MadePreconditioner<T, Space> multigrid_of(const CaseParameters& parameters,
                                          const StiffnessForm& form,
                                          const LinearOperator<T, Space>& a, double residual_size) {
  MadeMultigrid<C, Space> multigrid = make_cycle<C>(form, multigrid_options(parameters), a);
  MadePreconditioner<T, Space> made;
  made.levels = std::move(multigrid.levels);
  made.hierarchy = std::move(multigrid.hierarchy);
  if (!multigrid.note.empty()) made.notes.push_back(std::move(multigrid.note));
  made.set_watch = [cycle = multigrid.cycle.get()](CycleWatch* watch) { cycle->set_watch(watch); };
  if constexpr (std::is_same_v<C, T>) {
    made.preconditioner = std::move(multigrid.cycle);
  } else {
    auto rounded = std::make_unique<InSinglePrecision<Space>>(a.size(), std::move(multigrid.cycle));
    if (residual_size > 0.0) rounded->set_scale(std::exp2(std::round(std::log2(residual_size))));
    made.preconditioner = std::move(rounded);
  }
  return made;
}

template <class T, class Space>
MadePreconditioner<T, Space> make_preconditioner(const CaseParameters& parameters,
                                                 const StiffnessForm& form,
                                                 const LinearOperator<T, Space>& a,
                                                 double residual_size) {
  const SolverParameters& solver = parameters.solver;
  MadePreconditioner<T, Space> made;
  switch (solver.preconditioner) {
    case PreconditionerChoice::none:
      break;
    case PreconditionerChoice::jacobi:
      made.preconditioner = std::make_unique<Jacobi<T, Space>>(a);
      break;
    case PreconditionerChoice::chebyshev:
      return chebyshev_of(solver.chebyshev, a);
    case PreconditionerChoice::multigrid:
      if constexpr (std::is_same_v<T, double>) {
        if (solver.multigrid.precision == Precision::double_precision) {
          return multigrid_of<double>(parameters, form, a, residual_size);
        }
      }
      return multigrid_of<float>(parameters, form, a, residual_size);
    case PreconditionerChoice::fast_diagonalization:
    case PreconditionerChoice::block_jacobi:
    case PreconditionerChoice::block_asynchronous_jacobi:
      break;
  }
  return made;
}

}  // namespace tessera
