// This file makes each result file of a run.
#include "src/commands/run/run_output.hpp"

#include <fmt/format.h>
#include <omp.h>

#include <array>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>
#include <vector>

#include "postprocess/files/human_units.hpp"
#include "postprocess/ranks/rank_painter.hpp"
#include "postprocess/timing/timer_report.hpp"
#include "solvers/ranks/stop_together.hpp"
#include "src/case/setup.hpp"
#include "src/case/time/time_case.hpp"
#include "src/commands/nonlinear/texts.hpp"
#include "src/commands/run/probe_output.hpp"
#include "src/commands/run/solution_file.hpp"
#include "src/commands/time/picture_series.hpp"
#include "src/machine/machine.hpp"
#include "src/version.hpp"

namespace tessera {
namespace {

using Json = nlohmann::ordered_json;

Json json_or_null(const auto& number) { return number ? Json(*number) : Json(); }

Json levels_json(const RunRecord& run) {
  Json levels = Json::array();
  for (const LevelSummary& level : run.outcome.levels) {
    const IndexTriple& cells = level.shape.cells;
    levels.push_back({{"degree", level.shape.degree},
                      {"cells", std::vector<Index>(cells.begin(),
                                                   cells.begin() + run.parameters.mesh.dimension)},
                      {"dofs", level.dofs},
                      {"operator", level.strategy},
                      {"bytes", level.bytes},
                      {"largest_eigenvalue", level.largest_eigenvalue}});
  }
  return levels;
}

// The method of a run that solves no systems.
constexpr char kNoSolver[] = "none";

const char* solving_part(const RunRecord& run) { return run.time ? "steps" : "solve"; }

/// Of several ranks what the slowest took in each part, as in the timers.
std::vector<TimerTree::Part> parts_of(const RunRecord& run) {
  return run.rank_times ? run.rank_times->parts : run.timers.parts();
}

double seconds_of(const RunRecord& run, std::string_view name) {
  for (const TimerTree::Part& part : parts_of(run)) {
    if (part.name == name) return part.total;
  }
  return 0.0;
}

/// Of one application: the mean over the solve, or on its own where iterations do not tell.
double apply_seconds(const RunRecord& run) {
  for (const TimerTree::Part& part : parts_of(run)) {
    for (const TimerTree::Part& child : part.children) {
      if (part.name == solving_part(run) && child.name == "apply" && child.calls > 0) {
        return child.total / static_cast<double>(child.calls);
      }
    }
  }
  return run.outcome.apply_seconds;
}

Json choices_json(const std::vector<ChosenValue>& choices) {
  Json json = Json::array();
  for (const ChosenValue& choice : choices) {
    json.push_back({{"key", choice.key}, {"value", choice.value}, {"reason", choice.reason}});
  }
  return json;
}

// Why the run did not converge; a non-linear solve has its own.
std::vector<std::string> causes_of(const RunRecord& run) {
  if (run.outcome.nonlinear) return {};
  if (!run.time) return likely_causes(run.parameters, run.outcome.report);
  if (run.outcome.failure.empty()) return {};
  return {run.outcome.failure};
}

Json solver_json(const RunRecord& run) {
  const SolverParameters& solver = run.parameters.solver;
  const SolveReport& report = run.outcome.report;
  // A run in time and a non-linear one have solved many systems.
  const bool is_one_system = !run.time && !run.outcome.nonlinear && !report.history.empty();
  const bool is_used = solves_systems(run.parameters);
  return {{"method", is_used ? std::string(name_of(solver.method)) : kNoSolver},
          {"preconditioner", is_used ? solver.preconditioner : kNoPreconditioner},
          {"status", status_name(report.status)},
          {"iterations", report.iterations},
          {"converged", report.status == SolveStatus::converged},
          {"initial_relative_residual", is_one_system ? Json(report.history.front()) : Json()},
          {"relative_residual", is_one_system ? Json(report.true_relative_residual) : Json()},
          {"relative_tolerance", solver.relative_tolerance},
          {"likely_causes", causes_of(run)},
          {"levels", levels_json(run)},
          {"notes", run.outcome.notes}};
}

Json timing_json(const RunRecord& run) {
  const double apply = apply_seconds(run);
  const Work& work = run.outcome.apply_work;
  const Limit limit = limit_of(work, run.limits());
  return {{"setup_s", seconds_of(run, "setup")},
          {"solve_s", seconds_of(run, solving_part(run))},
          {"apply_s", apply},
          {"dofs_per_s", apply > 0.0 ? work.dofs / apply : 0.0},
          {"gbytes_per_s", apply > 0.0 ? work.bytes / apply * 1e-9 : 0.0},
          {"gflops_per_s", apply > 0.0 ? work.flops / apply * 1e-9 : 0.0},
          {"limit", limit.name.empty() ? Json() : Json(limit.name)},
          {"limit_share", apply > 0.0 && limit.seconds > 0.0 ? Json(limit.share(apply)) : Json()},
          {"total_s", run.rank_times ? run.rank_times->elapsed : run.timers.elapsed()}};
}

/// What the shares are of; null where it is not known.
Json machine_json(const RunRecord& run) {
  const MeasuredRates& rates = run.rates;
  const auto giga = [](double rate) { return rate > 0.0 ? Json(rate * 1e-9) : Json(); };
  Json caches = Json::array();
  for (const CacheRate& cache : rates.caches) {
    caches.push_back({{"name", cache.name},
                      {"bytes", cache.bytes},
                      {"gbytes_per_s", giga(cache.bytes_per_second)}});
  }
  return {{"copy_gbytes_per_s", giga(rates.memory.copy)},
          {"cache_gbytes_per_s", giga(rates.last_cache())},
          {"caches", caches},
          {"peak_gflops", giga(rates.fma.in_double)},
          {"peak_gflops_single", giga(rates.fma.in_single)}};
}

Json energy_json(const RunRecord& run, double dofs) {
  const std::optional<double> joules = run.energy.joules();
  return {{"cpu_j", json_or_null(run.energy.cpu.joules)},
          {"gpu_j", run.energy.gpu ? json_or_null(run.energy.gpu->joules) : Json()},
          {"j_per_dof", joules ? Json(*joules / dofs) : Json()},
          {"note", run.energy.note()}};
}

Json memory_json(const RunRecord& run) {
  Json memory = {{"operator_bytes", run.outcome.operator_bytes},
                 {"peak_bytes", run.peak_bytes.value_or(peak_resident_bytes())},
                 {"peak_device_bytes", nullptr}};
  if constexpr (kHasCuda) {
    if (run.on_gpu()) {
      memory["peak_device_bytes"] = run.peak_gpu_bytes.value_or(peak_device_bytes());
    }
  }
  return memory;
}

/// The text of result.json.
std::string result_text(const RunRecord& run) {
  const CaseParameters& parameters = run.parameters;
  const std::optional<FactorStorage> factors = run.strategy.factors;
  const Index dofs = run.model->dof_count();
  Json json = {{"title", parameters.title},
               {"dimension", parameters.mesh.dimension},
               {"degree", parameters.space.degree},
               {"cells", parameters.mesh.cells},
               {"dofs", dofs},
               {"kernel", run.strategy.kernel},
               {"scatter", run.strategy.scatter},
               {"geometry", factors ? factor_storage_name(*factors) : "none"},
               {"device", name_of(parameters.run.device)},
               {"threads", omp_get_max_threads()},
               {"precision", name_of(parameters.operation.precision)},
               {"solver", solver_json(run)},
               {"choices", choices_json(run.choices)},
               {"notes", run.notes.all()}};
  if (run.ranks) json["ranks"] = ranks_json(*run.ranks);
  if (const auto& error = run.evaluation.error) {
    json["error"] = {{"l2", error->l2}, {"h1_seminorm", error->h1_seminorm}, {"max", error->max}};
  }
  const SolutionNumbers& numbers = run.evaluation.solution;
  json["solution"] = {{"min", numbers.min},
                      {"max", numbers.max},
                      {"integral", numbers.integral},
                      {"energy", numbers.energy}};
  if (!run.probe_values.u.empty()) {
    json["probes"] = probes_json(parameters.output.probes.points, run.probe_values);
  }
  if (run.outcome.nonlinear) {
    json["nonlinear"] = nonlinear_json(parameters, *run.outcome.nonlinear);
  }
  if (run.time) json["time"] = time_json(*run.time);
  if (run.restart != nullptr) json["restart"] = restart_json(*run.restart);
  json["timing"] = timing_json(run);
  json["energy_use"] = energy_json(run, static_cast<double>(dofs));
  if (!run.launches.empty()) json["launches"] = launch_json(run.launches, run.rates.memory.copy);
  json["memory"] = memory_json(run);
  json["machine"] = machine_json(run);
  json["provenance"] = {{"version", kVersion},
                        {"commit", kCommit},
                        {"compiler", kCompiler},
                        {"machine", machine_summary(describe_machine())},
                        {"gpu", run.on_gpu() ? run.gpu.name : "not used"},
                        {"started", utc_text(run.started)}};
  json["timers"] = run.rank_times ? timer_json(*run.rank_times, run.limits())
                                  : timer_json(run.timers, run.limits());
  // The library writes null for numbers that are not finite, and must not throw on odd bytes in
  // names.
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

/// The text of residuals.csv: a line an iteration, from 0.
std::string residuals_csv(const RunRecord& run) {
  const SolveReport& report = run.outcome.report;
  const double reference_norm = report.reference_norm * run.model->units.load();
  std::string csv = "iteration,residual,relative_residual\n";
  for (std::size_t i = 0; i < report.history.size(); ++i) {
    fmt::format_to(std::back_inserter(csv), "{},{:.10e},{:.10e}\n", i,
                   report.history[i] * reference_norm, report.history[i]);
  }
  return csv;
}

/// Of solution.vtu and view.py.
std::string status_text(const SolveOutcome& outcome) {
  const SolveStatus status = outcome.report.status;
  if (status == SolveStatus::converged) return "";
  return fmt::format("not converged: {}", outcome.nonlinear
                                              ? status_name(outcome.nonlinear->report.status)
                                              : status_name(status));
}

void add_solution(RunRecord& run, ResultSet& files) {
  const auto output = run.timers.scope("output");
  const std::string name = "solution" + solution_extension(files.ranks());
  const auto scope = run.timers.scope(name);
  const std::string status = status_text(run.outcome);
  const ScalarField coefficient = make_problem(run.parameters).coefficient;
  const bool is_added =
      add_solution_file(files, name, run.parameters, run.model->discretization,
                        {run.system.x, run.exact, coefficient, status, std::nullopt}, run.notes);
  if (!is_added) return;
  run.notes.attempt("view.py is missing",
                    [&] { files.add("view.py", view_script_text(run.parameters, status, name)); });
}

void add_picture(RunRecord& run, ResultSet& files) {
  const auto output = run.timers.scope("output");
  const auto scope = run.timers.scope("solution.png");
  const SolutionNumbers& numbers = run.evaluation.solution;
  run.notes.attempt("solution.png is missing", [&] {
    stop_together(files.ranks());
    const std::string& title = run.parameters.title;
    RankPainter painter(run.model->part.get(), run.model->discretization);
    const SampledSolution sampled =
        painter.sample(run.system.x.span(), {numbers.min, numbers.max},
                       {run.time ? title_at(title, run.time->end) : title, status_text(run.outcome),
                        program_name()});
    const SolutionPicture picture = painter.draw(sampled, sampled.range);
    files.add("solution.png", picture.png);
    if (!picture.complaint.empty() && run.notes.is_first(picture.complaint)) {
      run.notes.complain(picture.complaint);
    }
  });
}

// What ranks took together.
void sum_up(RunRecord& run, const Communicator& ranks) {
  run.rank_times = gather_times(run.timers, ranks);
  std::array<double, 3> bytes = {static_cast<double>(run.outcome.operator_bytes),
                                 static_cast<double>(peak_resident_bytes()), 0.0};
  if constexpr (kHasCuda) {
    if (run.on_gpu()) bytes[2] = static_cast<double>(peak_device_bytes());
  }
  ranks.sum(bytes);
  run.outcome.operator_bytes = static_cast<Index>(bytes[0]);
  run.peak_bytes = static_cast<Index>(bytes[1]);
  run.peak_gpu_bytes = static_cast<Index>(bytes[2]);
}

}  // namespace

void write_results(RunRecord& run, ResultSet& files) {
  RunNotes& notes = run.notes;
  // A run in time has written solutions and probes while it went on.
  const bool has_solution = run.parameters.output.vtk && !run.time;
  if (has_solution || run.parameters.output.picture) {
    Discretization& discretization = run.model->discretization;
    discretization = to_physical(std::move(discretization), run.model->physical_mesh);
  }
  if (has_solution) add_solution(run, files);
  if (run.parameters.output.picture) add_picture(run, files);
  if (files.ranks().size() > 1) sum_up(run, files.ranks());
  const auto add = [&](const char* name, auto&& text) {
    notes.attempt(fmt::format("{} is missing", name),
                  [&] { files.add(name, [&](AtomicFile& file) { file.write(text()); }); });
  };
  if (!run.probe_values.u.empty() && !run.time) {
    notes.attempt("probes.csv is missing", [&] {
      files.add("probes.csv", [&](AtomicFile& file) {
        write_probes_csv(file, run.parameters.output.probes.points, run.probe_values);
      });
    });
  }
  add("case.toml", [&] {
    return (run.restart != nullptr ? restart_comment(*run.restart) : std::string()) +
           repeatable_text(run.parameters);
  });
  if (!run.time) add("residuals.csv", [&] { return residuals_csv(run); });
  add("timings.csv", [&] {
    return run.rank_times ? timer_csv(*run.rank_times, run.limits())
                          : timer_csv(run.timers, run.limits());
  });
  if (!run.launches.empty())
    add("launches.csv", [&] { return launch_csv(run.launches, run.rates.memory.copy); });
  add("result.json", [&] { return result_text(run); });
  notes.attempt("results are missing", [&] { files.commit(); });
}

}  // namespace tessera
