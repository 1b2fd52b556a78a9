// This file puts into words what a run is about to do and what came out.
#include "src/commands/run/run_screen.hpp"

#include <fmt/format.h>
#include <omp.h>

#include <cmath>
#include <filesystem>
#include <iterator>
#include <string_view>
#include <system_error>
#include <utility>

#include "operators/form/operator_name.hpp"
#include "postprocess/files/human_units.hpp"
#include "postprocess/timing/timer_report.hpp"
#include "src/case/choices.hpp"
#include "src/case/memory/size_limits.hpp"
#include "src/case/nonlinear/nonlinear_case.hpp"
#include "src/case/setup.hpp"
#include "src/case/time/time_case.hpp"
#include "src/commands/nonlinear/texts.hpp"
#include "src/commands/run/probe_output.hpp"
#include "src/commands/run/solution_file.hpp"

namespace tessera {
namespace {

namespace fs = std::filesystem;

/// A text that grows line by line.
class Lines {
 public:
  template <class... Arguments>
  void add(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
    fmt::format_to(std::back_inserter(text_), format, std::forward<Arguments>(arguments)...);
  }
  std::string take() { return std::move(text_); }

 private:
  std::string text_;
};

std::string known(double value, int digits) {
  return std::isnan(value) ? "unknown" : fmt::format("{:.{}g}", value, digits);
}

std::string error_text(const ErrorNorms& error) {
  return fmt::format("L2 {}, H1 seminorm {}, max {}", known(error.l2, 4),
                     known(error.h1_seminorm, 4), known(error.max, 4));
}

std::string processor_text(const RunRecord& run) {
  if (run.on_gpu() && run.ranks) {
    return fmt::format("{}, {} processes, whose values go {}", run.gpu.name, run.ranks->count,
                       run.ranks->between_gpus);
  }
  if (run.on_gpu()) return run.gpu.name;
  const std::string threads = fmt::format("{} threads", omp_get_max_threads());
  return run.ranks ? fmt::format("cpu, {} processes of {}", run.ranks->count, threads)
                   : "cpu, " + threads;
}

const char* shape_of(const CaseParameters& parameters, const BoxMesh& mesh) {
  if (!parameters.mesh.map.empty()) return "mapped";
  return mesh.is_uniform() ? "Cartesian" : "graded";
}

void add_mesh_and_space(const CaseParameters& parameters, Lines& lines) {
  const BoxMesh mesh = make_box_mesh(parameters);
  const SpaceParameters& space = parameters.space;
  const NodeLattice lattice(mesh, space.degree);
  lines.add("  mesh      {}D, {} cells, {}\n", parameters.mesh.dimension,
            fmt::join(parameters.mesh.cells, " x "), shape_of(parameters, mesh));
  lines.add("  space     degree {}, {} DoFs, {} nodes, {} {} points per axis\n", space.degree,
            human_count(static_cast<double>(lattice.dof_count())), name_of(space.nodes),
            space.points, name_of(space.quadrature));
}

void add_operator(const RunRecord& run, Lines& lines) {
  const CaseParameters& parameters = run.parameters;
  const auto reason_of = [&](std::string_view key) { return reason_text(run.choices, key); };
  // What was chosen; what the case names needs no line.
  const auto add_choice = [&](std::string_view title, std::string_view key,
                              std::string_view value) {
    const std::string reason = reason_of(key);
    if (!reason.empty()) lines.add("  {:<9} {}{}\n", title, value, reason);
  };
  lines.add("  operator  {}{}, {} precision, {}\n",
            operator_name(run.strategy.kernel, run.strategy.scatter), reason_of("operator.kernel"),
            name_of(parameters.operation.precision), processor_text(run));
  add_choice("device", "run.device", name_of(parameters.run.device));
  add_choice("scatter", "operator.scatter", parameters.operation.scatter);
  if (run.strategy.factors) {
    lines.add("  factors   {}{}\n", factor_storage_name(*run.strategy.factors),
              reason_of("operator.factors"));
  }
  const bool is_in_rounds = is_nonlinear(parameters);
  if (is_in_rounds) lines.add("  nonlinear {}\n", nonlinear_text(parameters));
  const SolverParameters& solver = parameters.solver;
  if (!solves_systems(parameters)) {
    lines.add("  solver    none: {} solves no systems\n", name_of(parameters.time->method));
    return;
  }
  lines.add(
      "  solver    {}{}, preconditioner {}{}, relative tolerance {}{:g}, at most {} iterations\n",
      name_of(solver.method), reason_of("solver.method"), solver.preconditioner,
      reason_of("solver.preconditioner"), is_in_rounds ? "at least " : "",
      solver.relative_tolerance, solver.max_iterations);
}

void add_iterations(const RunRecord& run, Lines& lines) {
  if (run.outcome.nonlinear) {
    lines.add("{}\n", ending_text(run.parameters, run.outcome));
    return;
  }
  const SolveReport& report = run.outcome.report;
  lines.add("{} after {} iteration{}: relative residual {:.3g} (from {:.3g}, target {:g})\n",
            status_name(report.status), report.iterations, report.iterations == 1 ? "" : "s",
            report.true_relative_residual, report.history.front(),
            run.parameters.solver.relative_tolerance);
}

void add_steps(const CaseParameters& parameters, const TimeSummary& time, Lines& lines) {
  lines.add(
      "{} t = {:g} after {} steps ({} rejected) of {:.3g} to {:.3g}: {} iterations{}\n",
      time.end == parameters.time->end ? "reached" : "ended at", time.end, time.steps,
      time.rejected, time.smallest_step, time.largest_step, time.linear_iterations,
      is_nonlinear(parameters) ? fmt::format(", {} of newton", time.nonlinear_iterations) : "");
  if (time.max_error) lines.add("  error     at all outputs: {}\n", error_text(*time.max_error));
}

void add_solution(const RunRecord& run, Lines& lines) {
  const SolutionNumbers& numbers = run.evaluation.solution;
  lines.add("  solution  min {}, max {}, integral {}, energy {}\n", known(numbers.min, 6),
            known(numbers.max, 6), known(numbers.integral, 8), known(numbers.energy, 8));
  if (run.evaluation.error) lines.add("  error     {}\n", error_text(*run.evaluation.error));
  if (!run.probe_values.u.empty() && !run.time) {
    lines.add("{}", probe_table(run.parameters.output.probes.points, run.probe_values,
                                run.parameters.mesh.dimension));
  }
}

}  // namespace

std::string case_text(const RunRecord& run, const RunMemory& memory) {
  const CaseParameters& parameters = run.parameters;
  Lines lines;
  lines.add("{}: {}\n", program_name(), parameters.title.empty() ? "untitled" : parameters.title);
  add_mesh_and_space(parameters, lines);
  add_operator(run, lines);
  if (parameters.time) lines.add("  time      {}\n", time_text(*parameters.time));
  lines.add("  memory    about {} of {} available\n", bytes_text(memory.peak_bytes),
            bytes_text(memory.available_bytes));
  if (parameters.output.vtk) lines.add("  output    {}\n", solution_size_text(parameters));
  for (const std::string& note : size_notes(parameters)) lines.add("  note      {}\n", note);
  if (run.on_gpu()) {
    lines.add("  GPU       about {} of {} free\n", bytes_text(memory.gpu_peak_bytes),
              bytes_text(run.gpu.free_bytes));
  }
  return lines.take();
}

std::string results_text(const RunRecord& run) {
  Lines lines;
  if (run.time) {
    add_steps(run.parameters, *run.time, lines);
  } else {
    add_iterations(run, lines);
  }
  add_solution(run, lines);
  lines.add("  energy    {}\n", run.energy.text(static_cast<double>(run.model->dof_count())));
  lines.add("\n{}", run.rank_times ? timer_table(*run.rank_times, run.limits())
                                   : timer_table(run.timers, run.limits()));
  if (!run.launches.empty()) {
    lines.add("{}\n", launch_table(run.launches, run.rates.memory.copy));
  }
  if (run.rates.memory.copy > 0.0) {
    lines.add("limits: {} (measured once, {})\n", rates_text(run.limits()), processor_text(run));
  }
  const fs::path directory = run.parameters.output.directory;
  lines.add("\nResults are in {}\n", directory.string());
  std::error_code ignored;
  if (fs::exists(directory / "view.py", ignored)) {
    lines.add("To see them: paraview --script={}\n", (directory / "view.py").string());
  }
  return lines.take();
}

std::vector<std::string> failure_lines(const RunRecord& run) {
  const CaseParameters& parameters = run.parameters;
  if (run.time) {
    return {fmt::format("the integration ended at t = {:g}, before {:g}: {}", run.time->end,
                        parameters.time->end, run.outcome.failure)};
  }
  if (run.outcome.nonlinear) return complaints(parameters, *run.outcome.nonlinear);
  const SolveReport& report = run.outcome.report;
  std::vector<std::string> lines = {fmt::format(
      "the solver did not converge: {} after {} iterations; relative residual {:.3g} -> {:.3g}, "
      "target {:g}",
      status_name(report.status), report.iterations, report.history.front(),
      report.true_relative_residual, parameters.solver.relative_tolerance)};
  for (const std::string& cause : likely_causes(parameters, report)) {
    lines.push_back("likely cause: " + cause);
  }
  return lines;
}

}  // namespace tessera
