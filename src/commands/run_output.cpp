// This file makes each result file of a run.
#include "src/commands/run_output.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <omp.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "postprocess/files/result_files.hpp"
#include "postprocess/timing/timer_report.hpp"
#include "solvers/interruption.hpp"
#include "src/case/setup.hpp"
#include "src/commands/result_set.hpp"
#include "src/commands/solution_file.hpp"
#include "src/machine/machine.hpp"
#include "src/version.hpp"

namespace tessera {
namespace {

std::vector<RunResult::Level> level_results(const SolveOutcome& outcome) {
  std::vector<RunResult::Level> levels;
  for (const LevelSummary& level : outcome.levels) {
    const IndexTriple& cells = level.shape.cells;
    levels.push_back({level.shape.degree,
                      {cells[0], cells[1], cells[2]},
                      level.dofs,
                      level.strategy,
                      level.bytes,
                      level.largest_eigenvalue});
  }
  return levels;
}

/// Of one application, the mean over the solve.
double apply_seconds(const TimerTree& timers) {
  for (const TimerTree::Part& part : timers.parts()) {
    for (const TimerTree::Part& child : part.children) {
      if (part.name == "solve" && child.name == "apply" && child.calls > 0) {
        return child.total / static_cast<double>(child.calls);
      }
    }
  }
  return 0.0;
}

RunResult::Timing timing_result(const RunRecord& run) {
  const double apply = apply_seconds(run.timers);
  return {run.timers.seconds("setup"),
          run.timers.seconds("solve"),
          apply,
          apply > 0.0 ? run.outcome.apply_work.dofs / apply : 0.0,
          apply > 0.0 ? run.outcome.apply_work.bytes / apply * 1e-9 : 0.0,
          run.timers.elapsed()};
}

RunResult result_of(const RunRecord& run) {
  const CaseParameters& parameters = run.parameters;
  const SolveReport& report = run.outcome.report;
  RunResult result;
  result.title = parameters.title;
  result.dimension = parameters.mesh.dimension;
  result.degree = parameters.space.degree;
  std::copy(parameters.mesh.cells.begin(), parameters.mesh.cells.end(), result.cells.begin());
  result.dofs = run.model->discretization.lattice.dof_count();
  result.kernel = run.strategy.kernel;
  result.scatter = run.strategy.scatter;
  result.geometry = run.strategy.factors ? factor_storage_name(*run.strategy.factors) : "none";
  result.device = name_of(parameters.run.device);
  result.threads = omp_get_max_threads();
  result.precision = name_of(parameters.operation.precision);
  result.solver = {std::string(name_of(parameters.solver.method)),
                   parameters.solver.preconditioner,
                   std::string(status_name(report.status)),
                   report.iterations,
                   report.status == SolveStatus::converged,
                   report.history.front(),
                   report.true_relative_residual,
                   parameters.solver.relative_tolerance,
                   likely_causes(parameters, report),
                   level_results(run.outcome),
                   run.outcome.notes};
  result.notes = run.notes.all();
  if (const auto& error = run.evaluation.error) {
    result.error = {error->l2, error->h1_seminorm, error->max};
  }
  const SolutionNumbers& numbers = run.evaluation.solution;
  result.solution = {numbers.min, numbers.max, numbers.integral, numbers.energy};
  result.timing = timing_result(run);
  const std::optional<double> joules = run.energy.joules();
  const double dofs = static_cast<double>(result.dofs);
  result.energy_use = {run.energy.cpu.joules,
                       run.energy.gpu ? run.energy.gpu->joules : std::nullopt,
                       joules ? std::optional(*joules / dofs) : std::nullopt, run.energy.note()};
  result.memory = {run.outcome.operator_bytes, peak_resident_bytes()};
  if constexpr (kHasCuda) {
    if (run.on_gpu()) result.memory.peak_device_bytes = peak_device_bytes();
  }
  result.provenance = {kVersion,
                       kCommit,
                       kCompiler,
                       machine_summary(describe_machine()),
                       run.on_gpu() ? run.gpu.name : "not used",
                       fmt::format("{:%Y-%m-%dT%H:%M:%SZ}",
                                   fmt::gmtime(std::chrono::system_clock::to_time_t(run.started)))};
  result.timers = timer_json(run.timers);
  return result;
}

/// Of solution.vtu and view.py.
std::string status_text(const SolveStatus status) {
  return status == SolveStatus::converged ? ""
                                          : fmt::format("not converged: {}", status_name(status));
}

void add_solution(RunRecord& run, ResultSet& files) {
  const auto output = run.timers.scope("output");
  const auto scope = run.timers.scope("solution.vtu");
  RunNotes& notes = run.notes;
  Discretization& discretization = run.model->discretization;
  discretization = to_physical(std::move(discretization), run.model->physical_mesh);
  SolutionFile solution(run.parameters, discretization, run.system.x);
  if (run.exact) {
    notes.attempt("solution.vtu has no exact solution and no error", [&] {
      stop_if_requested();
      solution.add_exact(*run.exact);
    });
  }
  notes.attempt("solution.vtu has no coefficient", [&] {
    stop_if_requested();
    const std::string complaint =
        solution.add_coefficient(make_problem(run.parameters).coefficient);
    if (!complaint.empty()) {
      notes.complain("the coefficient in solution.vtu is NaN at the centers of some cells: " +
                     complaint);
    }
  });
  const std::string status = status_text(run.outcome.report.status);
  std::vector<std::string> widened;
  const bool is_written = notes.attempt("solution.vtu is missing", [&] {
    files.add("solution.vtu", [&](AtomicFile& file) { widened = solution.write(file, status); });
  });
  if (!is_written) return;
  if (!widened.empty()) {
    notes.add(fmt::format(
        "solution.vtu has {} in double precision: the range of single precision is too small",
        fmt::join(widened, ", ")));
  }
  notes.attempt("view.py is missing",
                [&] { files.add("view.py", view_script_text(run.parameters, status)); });
}

}  // namespace

void write_results(RunRecord& run) {
  RunNotes& notes = run.notes;
  const std::filesystem::path directory = run.parameters.output.directory;
  ResultSet files(directory);
  if (run.parameters.output.vtk) add_solution(run, files);
  const auto add = [&](const char* name, auto&& text) {
    notes.attempt(fmt::format("{} is missing", name), [&] { files.add(name, text()); });
  };
  add("case.toml", [&] { return make_case_registry().to_toml(run.parameters); });
  add("residuals.csv", [&] {
    return residuals_csv(run.outcome.report.history,
                         run.outcome.report.reference_norm * run.model->units.load());
  });
  add("timings.csv", [&] { return timer_csv(run.timers, {run.copy_bandwidth}); });
  add("result.json", [&] { return result_text(result_of(run)); });
  notes.attempt("results are missing", [&] { files.commit(); });
}

}  // namespace tessera
