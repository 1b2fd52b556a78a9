// The command run solves a case, stage after stage.
#include <fmt/format.h>
#include <omp.h>

#include <chrono>
#include <filesystem>
#include <iostream>
#include <optional>
#include <utility>
#include <vector>

#include "postprocess/files/atomic_file.hpp"
#include "postprocess/files/output_directory.hpp"
#include "postprocess/files/progress.hpp"
#include "postprocess/timing/energy_meter.hpp"
#include "solvers/interruption.hpp"
#include "src/case/choices.hpp"
#include "src/case/dispatch.hpp"
#include "src/case/model.hpp"
#include "src/case/nonlinear/nonlinear_case.hpp"
#include "src/case/notes.hpp"
#include "src/case/probes.hpp"
#include "src/case/ranks/shared_text.hpp"
#include "src/case/setup.hpp"
#include "src/case/shape.hpp"
#include "src/case/time/time_case.hpp"
#include "src/commands.hpp"
#include "src/commands/interrupt.hpp"
#include "src/commands/level_table.hpp"
#include "src/commands/run/input_files.hpp"
#include "src/commands/run/run_output.hpp"
#include "src/commands/run/run_resources.hpp"
#include "src/commands/run/run_screen.hpp"
#include "src/commands/standard_streams.hpp"
#include "src/commands/time/checkpoints.hpp"
#include "src/commands/time/integration.hpp"
#include "src/commands/time/restart.hpp"
#include "src/machine/known_rates.hpp"
#include "src/machine/machine.hpp"
#include "src/machine/shared_cores.hpp"
#include "src/solve/nonlinear/nonlinear_solve.hpp"
#include "src/solve/solve.hpp"

namespace tessera {
namespace {

namespace fs = std::filesystem;

/// @throws InputError if the case launches no kernels on a GPU that --launches could report
void require_launches(const CaseParameters& parameters) {
  const auto refuse = [](const std::string& why) {
    throw InputError({{.file = std::string("--launches"), .message = why}});
  };
  if (parameters.run.processes > 1) {
    refuse("reports what one process launches on its GPU: start this without mpirun");
  }
  if (parameters.run.device != RunDevice::cuda) {
    refuse(
        "reports the launches of GPU kernels, and this run is on the CPU; "
        "--set run.device=cuda puts it on a GPU");
  }
  if (parameters.time) {
    refuse("reports the launches of a stationary case; without [time] it would report this one's");
  }
  if (is_nonlinear(parameters)) {
    refuse("reports the launches of a linear case, and this one is solved with [nonlinear]");
  }
}

/// One run of a case, stage after stage; each stage uses what the earlier ones left.
class Run {
 public:
  /// @param restart what the run goes on from; null if it begins
  /// @param ranks that compute the case
  Run(const LoadedCase& loaded, const RunCommand& command, const Restart* restart,
      const Communicator& ranks)
      : loaded_(loaded),
        ranks_(ranks),
        verbosity_(ranks.rank() == 0 ? command.verbosity : Verbosity::quiet),
        launches_(command.launches),
        restart_(restart),
        resources_(run_, ranks),
        parameters_(run_.parameters),
        is_nonlinear_(is_nonlinear(loaded.parameters)) {
    run_.parameters = loaded.parameters;
    run_.notes = RunNotes(ranks);
    run_.restart = restart;
  }

  /// @throws Interrupted before or during the solve's set-up, when there are no results
  void solve() {
    with_case_errors(loaded_, [&] {
      prepare();
      set_up();
      if (parameters_.time) {
        integrate();
      } else {
        solve_system();
      }
    });
  }

  /// Nothing that fails here takes a solution with it.
  void finish() {
    agree_on_stop(ranks_);
    // The signal that stopped the iteration has been obeyed.
    if (run_.outcome.report.status == SolveStatus::interrupted) withdraw_stop_request();
    // A run in time that has ended is not gone on with, so what were left out here would be lost.
    std::optional<UnstoppableWork> whole;
    if (run_.time) whole.emplace();
    evaluate();
    look_up_rates();
    write_results(run_, *files_);
    say("{}", results_text(run_));
  }

  ExitCode exit_code() const {
    const SolveStatus status = run_.outcome.report.status;
    const bool is_solved = status == SolveStatus::converged;
    if (!is_solved && status != SolveStatus::interrupted) {
      for (const std::string& line : failure_lines(run_)) {
        print_err("tessera: {}\n", line);
      }
    }
    if (!is_solved && checkpoint_time_) {
      print_err("tessera: to go on from t = {:g}: tessera run --restart {}\n", *checkpoint_time_,
                directory().string());
    }
    if (interrupted()) return ExitCode::interrupted;
    if (run_.notes.lacks_resources()) return ExitCode::no_resources;
    return is_solved ? ExitCode::success : ExitCode::not_converged;
  }

 private:
  template <class... Arguments>
  void say(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
    if (verbosity_ == Verbosity::normal) print_out(format, std::forward<Arguments>(arguments)...);
  }

  /// Threads, memory and the output directory, before any work.
  void prepare() {
    run_.started = std::chrono::system_clock::now();
    find_ranks();
    run_.choices = resolve_choices(run_.parameters);
    if (launches_ == LaunchReports::yes) require_launches(parameters_);
    run_.strategy = case_strategy(parameters_);
    resources_.take();
    make_output_directory();
    files_.emplace(directory(), restart_ ? restart_->kept_files() : std::vector<std::string>{},
                   ranks_);
    say("{}", case_text(run_, {.peak_bytes = resources_.peak_bytes(),
                               .available_bytes = available_memory_bytes(),
                               .gpu_peak_bytes = resources_.gpu_peak_bytes()}));
  }

  void find_ranks() {
    if (ranks_.size() == 1) return;
    const auto scope = run_.timers.scope("processes");
    resources_.find_ranks();
  }

  void make_output_directory() {
    const bool goes_on = restart_ != nullptr && restart_->place == RestartPlace::same_directory;
    try {
      output_directory_.emplace(
          directory(), goes_on || parameters_.output.overwrite ? Overwrite::yes : Overwrite::no,
          ranks_);
    } catch (const OutputError& error) {
      if (error.is_for_lack_of_space()) throw;
      throw InputError({loaded_.findings.diagnostic("output.directory", error.what())});
    }
  }

  // That of one rank is not what all of them use.
  std::string metered_gpu() const { return ranks_.size() > 1 ? "" : run_.gpu.pci_bus_id; }

  fs::path directory() const { return parameters_.output.directory; }

  SolutionPlace solution_place() const {
    const OutputParameters& output = parameters_.output;
    const bool is_looked_at = output.vtk || output.picture || !output.probes.points.empty();
    return is_looked_at ? SolutionPlace::host : SolutionPlace::anywhere;
  }

  void set_up() {
    const auto setup = run_.timers.scope("setup");
    {
      const auto scope = run_.timers.scope("mesh");
      run_.model.emplace(
          make_case_model(parameters_, case_processor(parameters_), ranks_, resources_.carrier()));
    }
    run_.exact = make_exact(parameters_, parameters_.time ? parameters_.time->start : 0.0);
    if (!parameters_.time) {
      const auto scope = run_.timers.scope("load");
      if (is_nonlinear_) {
        run_.system.x = nonlinear_start(*run_.model, make_initial(parameters_));
      } else {
        run_.system = make_linear_system(*run_.model, make_initial(parameters_),
                                         case_processor(parameters_), solution_place());
      }
    }
    if (run_.exact) {
      // Found wanting now rather than after the solve.
      const auto scope = run_.timers.scope("exact solution");
      try_at_nodes(*run_.model, *run_.exact, case_processor(parameters_));
    }
    if (!parameters_.output.probes.points.empty()) {
      const auto scope = run_.timers.scope("probes");
      run_.probes = make_probes(*run_.model, loaded_, run_.exact);
    }
    agree_on_stop(ranks_);
    stop_if_requested();
    for (std::string& note : case_notes(parameters_)) run_.notes.add(std::move(note));
    if (chosen_waiting() == Waiting::asleep) {
      run_.notes.add(
          "other programs use the cores: threads wait for each other asleep, which takes longer "
          "where they meet often (OMP_WAIT_POLICY=active forbids it)");
    }
    if (restart_ != nullptr) {
      std::vector<std::string> notes = restart_->notes();
      const bool is_warned = !restart_->found.complaint.empty() && ranks_.rank() == 0;
      if (is_warned && verbosity_ == Verbosity::quiet) print_err("tessera: {}\n", notes.front());
      for (std::string& note : notes) run_.notes.add(std::move(note));
    }
    for (const std::string& note : run_.system.notes) run_.notes.add(note);
    for (const std::string& note : run_.notes.all()) say("  note      {}\n", note);
  }

  Progress::Options progress_options() const {
    if (is_nonlinear_) {
      const NonlinearParameters& nonlinear = *parameters_.nonlinear;
      return {.label = std::string(name_of(nonlinear.method)),
              .target = nonlinear.relative_tolerance,
              .max_iterations = nonlinear.max_iterations};
    }
    return {.target = parameters_.solver.relative_tolerance,
            .max_iterations = parameters_.solver.max_iterations};
  }

  void solve_system() {
    Progress progress(std::cerr,
                      verbosity_ == Verbosity::quiet ? ProgressMode::silent : progress_mode(stderr),
                      progress_options());
    EnergyMeter meter({.gpu_bus_id = metered_gpu()});
    const auto iteration = [&](int number, double residual) {
      progress.update(number, residual);
      meter.sample();
      return iteration_stop_requested() ? Continue::no : Continue::yes;
    };
    const auto preconditioner = [&](const auto& levels, const auto& notes) {
      if (!levels.empty()) say("\n{}\n", level_table(levels, parameters_.mesh.dimension));
      for (const std::string& note : notes) say("  note      {}\n", note);
    };
    SolveListeners listeners{iteration, preconditioner};
    if (launches_ == LaunchReports::yes) {
      listeners.launches = [&](std::vector<LaunchReport> reports) {
        run_.launches = std::move(reports);
      };
    }
    if (is_nonlinear_) {
      run_.outcome =
          solve_nonlinear_case(parameters_, *run_.model, run_.system.x, run_.timers, listeners);
    } else {
      const BilinearForm form = stiffness_form(run_.model->problem, run_.model->discretization);
      run_.outcome = tessera::solve(parameters_, run_.model->problem, form, run_.system,
                                    run_.timers, listeners);
    }
    run_.energy = meter.stop();
    progress.finish();
    run_.system.b = {};
  }

  void integrate() {
    const TimeParameters& time = *parameters_.time;
    SolutionSeries series(parameters_, run_.model->discretization, *files_, run_.notes,
                          static_cast<Index>(output_times(time).size()), run_.model->part.get());
    Checkpoints checkpoints(parameters_, *files_, restart_);
    with_scalar_and_space(
        Precision::double_precision, case_processor(parameters_),
        [&]<class T, class Space>() { integrate_in<Space>(series, checkpoints); });
    checkpoint_time_ = checkpoints.last_time();
    for (const std::string& note : run_.outcome.notes) say("  note      {}\n", note);
  }

  template <class Space>
  void integrate_in(SolutionSeries& series, Checkpoints& checkpoints) {
    const TimeParameters& time = *parameters_.time;
    Integration<Space> integration(run_, series, checkpoints, restart_);
    TimeProgress progress(
        std::cerr, verbosity_ == Verbosity::quiet ? ProgressMode::silent : progress_mode(stderr),
        {.start = restart_ ? restart_->t() : time.start, .end = time.end});
    EnergyMeter meter({.gpu_bus_id = metered_gpu()});
    integration.run(progress, meter);
    run_.energy = meter.stop();
  }

  void evaluate() {
    const auto scope = run_.timers.scope("evaluate");
    const auto norms =
        make_solution_norms(*run_.model, run_.system.x, run_.exact, case_processor(parameters_),
                            run_.notes, std::exchange(run_.system.x_on_gpu, nullptr));
    if (run_.system.is_singular) {
      shift_to_mean_zero(*run_.model, *norms, run_.exact, run_.notes);
    }
    run_.evaluation = tessera::evaluate(*run_.model, *norms, run_.exact, run_.notes);
    if (run_.probes && !run_.time) evaluate_probes();
  }

  void evaluate_probes() {
    const std::vector<Point>& points = parameters_.output.probes.points;
    run_.notes.attempt("probes.csv is missing", [&] {
      std::vector<double> u(points.size());
      run_.probes->evaluate(run_.system.x.span(), u);
      run_.probe_values.u = std::move(u);
    });
    if (!run_.exact) return;
    run_.notes.attempt("the exact solution at the probes is not known",
                       [&] { run_.probe_values.exact = values_at(points, *run_.exact); });
  }

  // Those of a machine that others use at the same time are not known.
  void look_up_rates() {
    if (run_.on_gpu() || ranks_.size() > 1) return;
    run_.notes.attempt("shares of what the machine can do are not known", [&] {
      stop_if_requested();
      run_.rates = known_rates(omp_get_max_threads());
    });
  }

  const LoadedCase& loaded_;
  const Communicator& ranks_;
  Verbosity verbosity_;
  LaunchReports launches_;
  const Restart* restart_;
  RunRecord run_;
  RunResources resources_;
  const CaseParameters& parameters_;
  bool is_nonlinear_;
  std::optional<OutputDirectory> output_directory_;
  std::optional<ResultSet> files_;
  // Of the last checkpoint of a case in time.
  std::optional<double> checkpoint_time_;
};

}  // namespace

ExitCode run(const RunCommand& command, const Communicator& ranks) {
  const InterruptGuard guard(ranks.size() > 1 ? StopRequests::agreed : StopRequests::at_once);
  ignore_broken_pipes();
  require_same_version(ranks);
  std::optional<Restart> restart;
  if (!command.restart.empty()) restart = load_restart(command, ranks);
  if (restart && restart->is_done()) {
    print_out(
        "tessera: nothing to do: {} is at the end of the case, t = {:g}; with a later "
        "time.end the run goes on\n",
        restart->found.path.string(), restart->t());
    return ExitCode::success;
  }
  LoadedCase loaded = restart ? restart->loaded
                              : make_case_registry().parse(shared_text(command.case_file, ranks),
                                                           command.case_file, command.overrides);
  require_inputs_stay(loaded, command, restart ? &*restart : nullptr, ranks);
  loaded.parameters.run.processes = ranks.size();
  Run run(loaded, command, restart ? &*restart : nullptr, ranks);
  try {
    run.solve();
  } catch (const Interrupted&) {
    print_err("tessera: interrupted before the solve: nothing is written\n");
    return ExitCode::interrupted;
  }
  run.finish();
  return run.exit_code();
}

}  // namespace tessera
