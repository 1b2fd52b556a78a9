// This file joins a non-linear case with the iteration that solves it.
#include "src/solve/nonlinear/nonlinear_solve.hpp"

#include <cmath>
#include <numeric>
#include <type_traits>
#include <utility>

#include "operators/form/on_all_ranks.hpp"
#include "solvers/interruption.hpp"
#include "src/case/dispatch.hpp"
#include "src/case/nonlinear/nonlinear_case.hpp"
#include "src/case/shape.hpp"
#include "src/solve/nonlinear/stationary_system.hpp"
#include "src/solve/vector_conversion.hpp"
#include "src/solve/whole_work.hpp"

namespace tessera {
namespace {

// The ending of a linear solve that says the same.
SolveStatus linear_status(NonlinearStatus status) {
  switch (status) {
    case NonlinearStatus::converged:
      return SolveStatus::converged;
    case NonlinearStatus::iteration_limit:
      return SolveStatus::iteration_limit;
    case NonlinearStatus::no_decrease:
    case NonlinearStatus::linear_solver_failed:
      return SolveStatus::stagnated;
    case NonlinearStatus::not_finite:
      return SolveStatus::not_finite;
    case NonlinearStatus::interrupted:
      return SolveStatus::interrupted;
  }
  throw std::logic_error("an ending of an iteration that is not known");
}

bool is_explained_by_a_value(NonlinearStatus status) {
  return status == NonlinearStatus::not_finite || status == NonlinearStatus::no_decrease ||
         status == NonlinearStatus::linear_solver_failed;
}

SolveReport linear_report(const NonlinearReport& report) {
  SolveReport result;
  result.status = linear_status(report.status);
  result.iterations =
      std::accumulate(report.linear_iterations.begin(), report.linear_iterations.end(), 0);
  result.reference_norm = report.reference_norm;
  result.history = report.history;
  result.true_relative_residual = report.history.back();
  return result;
}

template <class Space>
std::vector<std::string> remedies(const CaseParameters& parameters,
                                  const StationarySystem<Space>& system,
                                  const NonlinearReport& report, const NonlinearOptions& options) {
  const bool is_of_source = system.was_indefinite() && system.linearization().complaint().empty() &&
                            has_derivative_of_source(parameters);
  if (report.status != NonlinearStatus::linear_solver_failed || !is_of_source) {
    return likely_remedies(report, options);
  }
  return {
      "the source grows with u so fast that the matrix of the iteration is not positive "
      "definite: solver.method = \"flexible-gmres\" does not need that",
      "the problem may have no solution, or none near the start: try it with a weaker source, "
      "or let it grow in time, with [time]"};
}

}  // namespace

NonlinearOptions nonlinear_options(const NonlinearParameters& nonlinear) {
  NonlinearOptions options;
  options.method = nonlinear.method;
  options.relative_tolerance = nonlinear.relative_tolerance;
  options.max_iterations = nonlinear.max_iterations;
  options.acceleration = nonlinear.acceleration;
  options.line_search = nonlinear.line_search ? LineSearch::on : LineSearch::off;
  return options;
}

HostVector<double> nonlinear_start(const CaseModel& model, const ScalarField& initial) {
  const BilinearForm form = stiffness_form(model.problem, model.discretization);
  HostVector<double> u(form.layout());
  on_all_ranks(form, [&] { interpolate(model, initial, u); });
  stop_if_requested();
  DirichletValues(form, dirichlet_fields(model.problem)).set(u);
  return u;
}

namespace {

template <class Space>
SolveOutcome solve_in(const CaseParameters& parameters, const CaseModel& model,
                      HostVector<double>& u_on_host, TimerTree& timers,
                      const SolveListeners& listeners) {
  NonlinearOptions options = nonlinear_options(*parameters.nonlinear);
  StationarySystem<Space> system(parameters, model.problem, model.discretization, timers);
  const Linearization<Space>& linearization = system.linearization();
  bool is_told = false;
  options.observer = [&](int iteration, double residual) {
    if (!std::exchange(is_told, true)) {
      listeners.preconditioner(linearization.levels(), linearization.notes());
    }
    return listeners.iteration(iteration, residual);
  };
  SolveOutcome outcome;
  {
    const auto scope = timers.scope("solve");
    outcome.nonlinear.emplace();
    if constexpr (std::is_same_v<Space, Host>) {
      options.reference_norm = system.size_at_zero(u_on_host);
      outcome.nonlinear->report = solve_nonlinear<Host>(system, options, u_on_host);
    } else {
      DeviceVector<double> u = moved_to<Device>(std::move(u_on_host));
      options.reference_norm = system.size_at_zero(u);
      outcome.nonlinear->report = solve_nonlinear<Device>(system, options, u);
      u_on_host = on_host(u);
    }
  }
  NonlinearReport& report = outcome.nonlinear->report;
  if (system.was_stopped()) {
    report.status = NonlinearStatus::interrupted;
    report.failure = "the iteration was stopped";
    // What was not computed to its end is no iteration.
    if (report.history.size() > 1 && !std::isfinite(report.history.back())) {
      report.history.pop_back();
      --report.iterations;
    }
  } else if (is_explained_by_a_value(report.status) && !system.complaint().empty()) {
    report.failure += "; " + system.complaint();
  }
  outcome.nonlinear->remedies = remedies(parameters, system, report, options);
  outcome.report = linear_report(report);
  outcome.levels = linearization.levels();
  outcome.notes = linearization.notes();
  outcome.operator_bytes = linearization.operator_bytes();
  if (const LinearOperator<double, Space>* const a = linearization.operation()) {
    outcome.apply_work = work_of_all_ranks(*a);
    outcome.operator_name = a->name();
    if constexpr (std::is_same_v<Space, Host>) {
      if (outcome.report.iterations > 0) timers.set_work("solve/apply", outcome.apply_work);
    }
  }
  return outcome;
}

}  // namespace

SolveOutcome solve_nonlinear_case(const CaseParameters& parameters, const CaseModel& model,
                                  HostVector<double>& u, TimerTree& timers,
                                  const SolveListeners& listeners) {
  return with_scalar_and_space(Precision::double_precision, case_processor(parameters),
                               [&]<class T, class Space>() {
                                 return solve_in<Space>(parameters, model, u, timers, listeners);
                               });
}

}  // namespace tessera
