// These templates evaluate and linearize non-linear cases in time.
#pragma once

#include <limits>
#include <utility>

#include "mesh/errors.hpp"
#include "operators/form/on_all_ranks.hpp"
#include "operators/load/interpolation.hpp"
#include "operators/load/load_vector.hpp"
#include "solvers/interruption.hpp"
#include "src/case/fields.hpp"
#include "src/case/setup.hpp"
#include "src/solve/nonlinear/nonlinear_steps.hpp"
#include "src/solve/vector_conversion.hpp"

namespace tessera {

template <class Space>
NonlinearSteps<Space>::NonlinearSteps(const CaseParameters& parameters,
                                      const ProblemInTime& problem,
                                      const Discretization& discretization,
                                      const NaturalUnits& units, const BilinearForm& mass,
                                      TimerTree& timers)
    : parameters_(parameters),
      problem_(problem),
      discretization_(discretization),
      units_(units),
      mass_(mass),
      timers_(timers),
      residual_(discretization),
      linearization_(parameters, timers),
      u_(mass.layout()),
      scratch_(mass.layout()),
      lift_(problem, units, mass) {
  const double start = parameters.time->start;
  const PoissonProblem first = problem_at(start);
  {
    HostVector<double> initial(mass.layout());
    on_all_ranks(mass, [&] {
      interpolate(discretization, in_frame(make_initial(parameters), units.frame), initial);
    });
    scratch_ = moved_to<Space>(std::move(initial));
  }
  set_u(start, first, scratch_);
  residual_.compute(stiffness_form(first, discretization), first.source, flux_terms(first), u_,
                    scratch_);
}

template <class Space>
void NonlinearSteps<Space>::set_u(double t, const PoissonProblem& problem, const V& w) {
  copy(w, u_);
  lift_.set(t, problem, u_);
}

template <class Space>
void NonlinearSteps<Space>::evaluate(double t, const V& w, V& f) {
  stop_if_requested();
  const auto scope = timers_.scope("residual");
  complaint_.clear();
  try {
    const PoissonProblem problem = problem_at(t);
    set_u(t, problem, w);
    residual_.compute(stiffness_form(problem, discretization_), problem.source, flux_terms(problem),
                      u_, scratch_);
    fill(f, 0.0);
    axpy(-1.0, scratch_, f);
    lift_.subtract_rates(t, mass_, f);
  } catch (const BadFieldValue& error) {
    complaint_ = error.text();
    fill(f, std::numeric_limits<double>::quiet_NaN());
  }
}

template <class Space>
Aging NonlinearSteps<Space>::aging_of(double t, double gamma) const {
  if (!linearized_at_) return Aging::updated;
  if (parameters_.time->step) {
    // Fixed steps have the same bits whatever steps there were before.
    return *linearized_at_ == t && gamma_ == gamma ? Aging::kept_while_good : Aging::updated;
  }
  constexpr double kMaxRatio = 2.0;
  const double ratio = gamma / preconditioned_gamma_;
  return 1.0 / kMaxRatio <= ratio && ratio <= kMaxRatio ? Aging::kept_while_good : Aging::updated;
}

template <class Space>
void NonlinearSteps<Space>::linearize(double t, double gamma, const V& w) {
  const auto scope = timers_.scope("linearize");
  const Aging aging = aging_of(t, gamma);
  linearized_at_ = t;
  gamma_ = gamma;
  const PoissonProblem problem = problem_at(t);
  set_u(t, problem, w);
  linearization_.set(
      with_mass(stiffness_form(problem, discretization_), problem.capacity, 1.0 / gamma),
      problem.source, u_, aging);
  if (!linearization_.keeps_preconditioner()) preconditioned_gamma_ = gamma;
}

template <class Space>
SolveReport NonlinearSteps<Space>::solve(double tolerance, const V& b, V& x) {
  // The operator is M / gamma - df/dw.
  fill(scratch_, 0.0);
  axpy(1.0 / gamma_, b, scratch_);
  SolveReport report = linearization_.solve(tolerance, scratch_, x);
  if (!linearization_.keeps_preconditioner()) preconditioned_gamma_ = gamma_;
  return report;
}

}  // namespace tessera
