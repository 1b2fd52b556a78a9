// This file evaluates and linearizes non-linear cases in time.
#include "src/solve/nonlinear/nonlinear_steps.hpp"

#include <limits>
#include <utility>

#include "mesh/errors.hpp"
#include "operators/form/constrained_rows.hpp"
#include "operators/form/on_all_ranks.hpp"
#include "operators/load/interpolation.hpp"
#include "operators/load/load_vector.hpp"
#include "solvers/interruption.hpp"
#include "src/case/fields.hpp"
#include "src/case/setup.hpp"
#include "src/solve/time/moving_load.hpp"

namespace tessera {

NonlinearSteps::NonlinearSteps(const CaseParameters& parameters, const ProblemInTime& problem,
                               const Discretization& discretization, const NaturalUnits& units,
                               const BilinearForm& mass, TimerTree& timers)
    : problem_(problem),
      discretization_(discretization),
      units_(units),
      mass_(mass),
      timers_(timers),
      linearization_(parameters, timers),
      u_(mass.layout()),
      scratch_(mass.layout()),
      rates_(problem.dirichlet_depends_on_time() ? mass.layout() : VectorLayout()) {
  const PoissonProblem first = problem_at(parameters.time->start);
  on_all_ranks(mass, [&] {
    interpolate(discretization, in_frame(make_initial(parameters), units.frame), scratch_);
  });
  set_u(first, scratch_);
  assemble_residual(stiffness_form(first, discretization), first.source, flux_terms(first), u_,
                    scratch_);
}

void NonlinearSteps::set_u(const PoissonProblem& problem, const HostVector<double>& w) {
  copy(w, u_);
  set_dirichlet_values(mass_, dirichlet_fields(problem), u_);
}

void NonlinearSteps::evaluate(double t, const HostVector<double>& w, HostVector<double>& f) {
  stop_if_requested();
  const auto scope = timers_.scope("residual");
  complaint_.clear();
  try {
    const PoissonProblem problem = problem_at(t);
    set_u(problem, w);
    assemble_residual(stiffness_form(problem, discretization_), problem.source, flux_terms(problem),
                      u_, scratch_);
    fill(f, 0.0);
    axpy(-1.0, scratch_, f);
    if (rates_.size() > 0) subtract_rates(t, f);
  } catch (const BadFieldValue& error) {
    complaint_ = error.text();
    fill(f, std::numeric_limits<double>::quiet_NaN());
  }
}

void NonlinearSteps::subtract_rates(double t, HostVector<double>& f) {
  set_dirichlet_rates(problem_, mass_, units_, t, rates_);
  assemble_load(mass_, constant_field(0.0), {}, rates_, scratch_);
  for_each_face_node(discretization_.lattice, mass_.dirichlet,
                     [&](Index node) { scratch_[node] = 0.0; });
  axpy(1.0, scratch_, f);
}

void NonlinearSteps::linearize(double t, double gamma, const HostVector<double>& w) {
  const auto scope = timers_.scope("linearize");
  gamma_ = gamma;
  const PoissonProblem problem = problem_at(t);
  set_u(problem, w);
  linearization_.set(
      with_mass(stiffness_form(problem, discretization_), problem.capacity, 1.0 / gamma),
      problem.source, u_);
}

SolveReport NonlinearSteps::solve(double tolerance, const HostVector<double>& b,
                                  HostVector<double>& x) {
  // The operator is M / gamma - df/dw.
  fill(scratch_, 0.0);
  axpy(1.0 / gamma_, b, scratch_);
  return linearization_.solve(tolerance, scratch_, x);
}

}  // namespace tessera
