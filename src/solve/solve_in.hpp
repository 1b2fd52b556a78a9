// This template is the solve of a case in any precision and memory.
#pragma once

#include <fmt/format.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "operators/strategy.hpp"
#include "solvers/interruption.hpp"
#include "solvers/krylov/stagnation.hpp"
#include "src/case/memory/preconditioner_memory.hpp"
#include "src/case/strategy.hpp"
#include "src/solve/full_multigrid_start.hpp"
#include "src/solve/method.hpp"
#include "src/solve/row_residual.hpp"
#include "src/solve/solve.hpp"
#include "src/solve/solve_launches.hpp"
#include "src/solve/solve_timing.hpp"
#include "src/solve/system_vectors.hpp"
#include "src/solve/whole_work.hpp"

namespace tessera {

/// What a solve is of.
struct SolveTask {
  const CaseParameters& parameters;
  const PoissonProblem& problem;
  const BilinearForm& form;
  /// What the system is divided by, against what the problem gives.
  double scale;
};

/// As solve(), with operator, vectors and iteration in this precision and memory.
template <class T, class Space>
SolveOutcome solve_in(const SolveTask& task, LinearSystem& system, TimerTree& timers,
                      const SolveListeners& listeners) {
  const CaseParameters& parameters = task.parameters;
  const SolverParameters& solver = parameters.solver;
  std::unique_ptr<LinearOperator<T, Space>> a;
  PreconditionerSetup<T, Space> made;
  std::optional<SystemVectors<T, Space>> vectors;
  {
    const auto setup = timers.resume("setup");
    {
      const auto scope = timers.scope("operator");
      a = make_operator<T, Space>(case_strategy(parameters), task.form);
      synchronize<Space>();
    }
    stop_if_requested();
    if (solver.preconditioner != kNoPreconditioner) {
      const auto scope = timers.scope("preconditioner");
      made = make_preconditioner<T, Space>(
          {parameters, task.form, *a, residual_size(system, a->layout().whole_size())});
      synchronize<Space>();
    }
    vectors.emplace(system, timers);
  }
  const Work work = work_of_all_ranks(*a);
  const double n = work.dofs;
  SolveOutcome outcome{{}, a->bytes(), work, made.levels, made.notes, a->name()};
  stop_if_requested();
  listeners.preconditioner(made.levels, made.notes);

  // Its memory is free again before the iteration. Returns its notes.
  const auto start_by_full_multigrid = [&]() -> std::vector<std::string> {
    if (solver.initial != kFullMultigrid) return {};
    auto full = make_full_multigrid<T, Space>(task.problem, *made.hierarchy,
                                              multigrid_options(parameters).scatter, *a,
                                              solver.multigrid.start_cycles, task.scale);
    full.start.run(made.cycle, vectors->b(), vectors->x());
    synchronize<Space>();
    return std::move(full.notes);
  };
  if (solver.initial == kFullMultigrid) {
    const auto scope = timers.scope("full multigrid");
    add_notes(start_by_full_multigrid(), listeners, outcome);
  }
  IterationParts parts = IterationParts::several;
  {
    SolveTiming<T, Space> timing(*a, made, timers);
    timing.begin(vectors->b());
    const auto scope = timers.scope("solve");
    const double before = timers.seconds("solve");
    const double omega = relaxation(solver.method, *a, made.preconditioner.get());
    const auto iteration =
        make_solver(solver.method, timing.a(), timing.m(), omega, solver.restart);
    SolveOptions options = solver_options(solver, system, listeners);
    outcome.report = iteration->solve(vectors->b(), vectors->x(), options);
    int iterations = outcome.report.iterations;
    // Of a singular matrix alone, for which x begins with 0.
    const int best = is_pure_neumann(task.form) ? iteration_before_spoilt(outcome.report) : 0;
    if (best > 0) {
      fill(vectors->x(), T{0});
      start_by_full_multigrid();
      options.max_iterations = best;
      iterations += best;
      outcome.report.true_relative_residual =
          iteration->solve(vectors->b(), vectors->x(), options).true_relative_residual;
      add_notes({fmt::format("after iteration {} only rounding was left, and the residual rose to "
                             "{:.3g}: the solution is that iteration's, computed again",
                             best, outcome.report.history.back())},
                listeners, outcome);
    }
    parts = iteration->iterates_in_one_kernel() ? IterationParts::one : IterationParts::several;
    timing.end(iterations, applications_per_iteration(solver.method),
               timers.seconds("solve") - before, parts);
    if (parts == IterationParts::one) outcome.apply_seconds = timing.apply_seconds();
  }
  if (outcome.report.status == SolveStatus::converged && made.levels.empty() &&
      made.exactness != Exactness::exact && !task.form.coefficient.constant) {
    const auto scope = timers.scope("residual by rows");
    const std::string note = note_on_rows(*a, vectors->b(), vectors->x(), parameters);
    if (!note.empty()) add_notes({note}, listeners, outcome);
  }
  if (outcome.report.iterations > 0 && parts == IterationParts::one) {
    // What is moved stays on the chip.
    timers.set_work(std::string("solve/") + kInOneKernelPart,
                    {.dofs = n, .flops = outcome.apply_work.flops + kFlopsOfUpdate * n});
  } else if (outcome.report.iterations > 0) {
    timers.set_work("solve/apply", outcome.apply_work);
    const double vector_bytes = n * sizeof(T);
    timers.set_work(
        "solve/vector updates",
        {.dofs = n,
         .bytes = update_streams(*a, made.preconditioner.get(), parameters) * vector_bytes,
         .held_bytes = (1 + solver_vectors(parameters, case_strategy(parameters))) * vector_bytes});
  }
  if constexpr (kHasCuda && std::is_same_v<Space, Device>) {
    if (listeners.launches) {
      const auto scope = timers.scope("launches");
      listeners.launches(solve_launches(*a, made.preconditioner.get(), solver.preconditioner));
    }
  }
  vectors->finish();
  return outcome;
}

}  // namespace tessera
