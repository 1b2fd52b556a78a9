// This file solves a case on the host, with every part timed.
#include "src/solve/solve.hpp"

#include <fmt/format.h>

#include <memory>

#include "operators/strategy.hpp"
#include "solvers/configuration.hpp"
#include "solvers/interruption.hpp"
#include "src/case/strategy.hpp"
#include "src/case/system_scale.hpp"
#include "src/solve/cycle_timing.hpp"
#include "src/solve/dispatch.hpp"
#include "src/solve/full_multigrid_start.hpp"
#include "src/solve/solve_on_gpu.hpp"
#include "src/solve/timed.hpp"

namespace tessera {
namespace {

template <class T>
SolveOutcome solve_on_host(const SolveTask& task, LinearSystem& system, TimerTree& timers,
                           const SolveListeners& listeners) {
  const CaseParameters& parameters = task.parameters;
  const PoissonProblem& problem = task.problem;
  const BilinearForm& form = task.form;
  const double scale = task.scale;
  const SolverParameters& solver = parameters.solver;
  std::unique_ptr<LinearOperator<T, Host>> a;
  PreconditionerSetup<T, Host> made;
  {
    const auto setup = timers.resume("setup");
    {
      const auto scope = timers.scope("operator");
      a = make_operator<T>(case_strategy(parameters), form);
    }
    stop_if_requested();
    if (solver.preconditioner != kNoPreconditioner) {
      const auto scope = timers.scope("preconditioner");
      made = make_preconditioner<T, Host>(parameters, form, *a, residual_size(system));
    }
  }
  const double n = static_cast<double>(a->size());
  SolveOutcome outcome{{}, a->bytes(), {n, a->cost().bytes}, made.levels, made.notes, a->name()};
  stop_if_requested();
  listeners.preconditioner(made.levels, made.notes);

  HostVector<T> rounded_b;
  HostVector<T> rounded_x;
  const auto vectors = [&](auto&& work) {
    if constexpr (std::is_same_v<T, double>) {
      work(system.b, system.x);
    } else {
      rounded_b = converted<T, Host>(system.b);
      rounded_x = converted<T, Host>(system.x);
      work(rounded_b, rounded_x);
      convert_back(rounded_x, system.x);
    }
  };
  vectors([&](const HostVector<T>& b, HostVector<T>& x) {
    if (solver.initial == kFullMultigrid) {
      const auto scope = timers.scope("full multigrid");
      auto full = make_full_multigrid<T, Host>(problem, *made.hierarchy,
                                               multigrid_options(parameters).scatter, *a,
                                               solver.multigrid.start_cycles, scale);
      add_notes(full.notes, listeners, outcome);
      full.start.run(made.cycle, b, x);
    }
    const TimedOperator<T, Host> timed(*a, timers);
    std::unique_ptr<Preconditioner<T, Host>> preconditioner;
    if (made.preconditioner) {
      preconditioner = std::make_unique<TimedPreconditioner<T, Host>>(*made.preconditioner, timers);
    }
    CycleTimer watch(timers);
    if (made.set_observer) made.set_observer(&watch);
    const auto scope = timers.scope("solve");
    const double before = timers.seconds("solve");
    const double omega = relaxation(solver.method, *a, made.preconditioner.get());
    outcome.report = solve_by_method<T, Host>(solver.method, timed, preconditioner.get(), b, x,
                                              omega, solver_options(solver, system, listeners));
    const double rest = timers.seconds("solve") - before - timers.seconds("solve/apply") -
                        timers.seconds("solve/precondition");
    const int iterations = outcome.report.iterations;
    if (iterations > 0) timers.add("vector updates", iterations, rest, rest / iterations);
  });
  timers.set_work("solve/apply", outcome.apply_work);
  timers.set_work("solve/vector updates", {n, update_streams(*a, parameters) * n * sizeof(T)});
  return outcome;
}

SolveOutcome solve_scaled(const SolveTask& task, LinearSystem& system, TimerTree& timers,
                          const SolveListeners& listeners) {
  if (task.parameters.run.device == RunDevice::cuda) {
    if constexpr (kHasCuda) return solve_on_gpu(task, system, timers, listeners);
  }
  return task.parameters.operation.precision == Precision::single_precision
             ? solve_on_host<float>(task, system, timers, listeners)
             : solve_on_host<double>(task, system, timers, listeners);
}

}  // namespace

SolveOutcome solve(const CaseParameters& parameters, const PoissonProblem& problem,
                   const BilinearForm& form, LinearSystem& system, TimerTree& timers,
                   const SolveListeners& listeners) {
  const double scale = system_scale(system, form);
  divide(system, form, scale);
  SolveOutcome outcome =
      solve_scaled({parameters, problem, form, scale}, system, timers, listeners);
  divide(system, form, 1.0 / scale);
  outcome.report.reference_norm *= scale;
  return outcome;
}

std::vector<std::string> likely_causes(const CaseParameters& parameters,
                                       const SolveReport& report) {
  const bool single = parameters.operation.precision == Precision::single_precision;
  const bool plain = parameters.solver.preconditioner == kNoPreconditioner;
  std::vector<std::string> causes;
  switch (report.status) {
    case SolveStatus::converged:
      break;
    case SolveStatus::interrupted:
      causes.emplace_back("a signal (Ctrl-C) stopped the iteration");
      break;
    case SolveStatus::iteration_limit:
      causes.push_back(fmt::format(
          "solver.max_iterations = {} is too few for this mesh and degree: iterations grow with "
          "cells an axis times degree squared",
          parameters.solver.max_iterations));
      if (plain) {
        causes.emplace_back("no preconditioner: try solver.preconditioner = \"multigrid\"");
      }
      break;
    case SolveStatus::stagnated:
      causes.push_back(fmt::format(
          "solver.relative_tolerance = {} is below what rounding in {} precision lets this matrix "
          "reach",
          parameters.solver.relative_tolerance, name_of(parameters.operation.precision)));
      if (single) causes.emplace_back("try operator.precision = \"double\"");
      break;
    case SolveStatus::diverged:
      causes.push_back(fmt::format(
          "the method {} needs a preconditioner near enough to the inverse: try more smoothing, or "
          "solver.method = \"cg\"",
          name_of(parameters.solver.method)));
      break;
    case SolveStatus::indefinite:
      causes.emplace_back(
          "p.Ap <= 0 in an operator that is positive definite without rounding: coefficients or "
          "cell shapes spread over too many orders of magnitude");
      if (single) causes.emplace_back("try operator.precision = \"double\"");
      break;
    case SolveStatus::not_finite:
      causes.push_back(fmt::format(
          "a number overflowed in {} precision: coefficient, source or boundary values are too "
          "large",
          name_of(parameters.operation.precision)));
      break;
  }
  return causes;
}

}  // namespace tessera
