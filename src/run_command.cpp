#include <fmt/chrono.h>
#include <fmt/format.h>
#include <omp.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <iostream>
#include <optional>

#include "operators/interpolation.hpp"
#include "operators/strategy.hpp"
#include "postprocess/atomic_file.hpp"
#include "postprocess/energy_meter.hpp"
#include "postprocess/error_norms.hpp"
#include "postprocess/human_units.hpp"
#include "postprocess/output_directory.hpp"
#include "postprocess/progress.hpp"
#include "postprocess/result_files.hpp"
#include "postprocess/timer_report.hpp"
#include "postprocess/timers.hpp"
#include "solvers/device.hpp"
#include "src/case_fields.hpp"
#include "src/case_geometry.hpp"
#include "src/case_notes.hpp"
#include "src/case_setup.hpp"
#include "src/commands.hpp"
#include "src/interrupt.hpp"
#include "src/kernel_choice.hpp"
#include "src/level_table.hpp"
#include "src/machine.hpp"
#include "src/memory_estimate.hpp"
#include "src/solution_file.hpp"
#include "src/solve.hpp"
#include "src/version.hpp"

namespace tessera {
namespace {

namespace fs = std::filesystem;

std::string join_cells(const std::vector<Index>& cells) {
  return fmt::format("{}", fmt::join(cells, " x "));
}

/// One run of a case, stage after stage; each stage uses what the earlier ones left.
class Run {
 public:
  Run(LoadedCase loaded, Verbosity verbosity)
      : loaded_(std::move(loaded)),
        choice_(choose_kernel(loaded_.parameters)),
        geometry_(choose_geometry(loaded_.parameters)),
        parameters_(loaded_.parameters),
        directory_(parameters_.output.directory),
        verbosity_(verbosity) {}

  ExitCode execute() {
    prepare();
    with_case_errors(loaded_, [&] { set_up(); });
    solve_system();
    with_case_errors(loaded_, [&] { evaluate(); });
    write();
    print_results();
    if (outcome_.report.status == SolveStatus::converged) return ExitCode::success;
    if (outcome_.report.status == SolveStatus::interrupted) return ExitCode::interrupted;
    complain();
    return ExitCode::not_converged;
  }

 private:
  template <class... Arguments>
  void say(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
    if (verbosity_ == Verbosity::quiet) return;
    fmt::print(format, std::forward<Arguments>(arguments)...);
    std::fflush(stdout);
  }

  StrategyName strategy() const {
    return {parameters_.operation.kernel, parameters_.operation.scatter};
  }

  /// Threads, memory and the output directory, before any work.
  void prepare() {
    started_ = std::chrono::system_clock::now();
    omp_set_num_threads(parameters_.run.threads > 0 ? parameters_.run.threads
                                                    : omp_get_num_procs());
    const MemoryEstimate estimate = estimate_memory(parameters_, strategy());
    const Index available = available_memory_bytes();
    require_memory(estimate, available);
    if (on_gpu()) prepare_gpu();
    try {
      output_directory_.emplace(directory_,
                                parameters_.output.overwrite ? Overwrite::yes : Overwrite::no);
    } catch (const OutputError& error) {
      throw InputError({loaded_.findings.diagnostic("output.directory", error.what())});
    }
    print_case(estimate, available);
  }

  bool on_gpu() const { return case_processor(parameters_) == Processor::gpu; }

  void prepare_gpu() {
    if constexpr (kHasCuda) {
      gpu_ = require_device();
      gpu_estimate_ = estimate_gpu_memory(parameters_, strategy());
      require_gpu_memory(gpu_estimate_, gpu_.free_bytes);
      // Now: afterwards there may be no memory for it.
      const auto scope = timers_.scope("bandwidth test");
      copy_bandwidth_ = measure_device_copy_bandwidth();
    }
  }

  std::string processor_text() const {
    return on_gpu() ? gpu_.name : fmt::format("cpu, {} threads", omp_get_max_threads());
  }

  void print_case(const MemoryEstimate& estimate, Index available) {
    const BoxMesh mesh = make_box_mesh(parameters_);
    const NodeLattice lattice(mesh, parameters_.space.degree);
    const char* shape = !parameters_.mesh.map.empty() ? "mapped"
                        : mesh.is_uniform()           ? "Cartesian"
                                                      : "graded";
    const SpaceParameters& space = parameters_.space;
    const SolverParameters& solver = parameters_.solver;
    say("{}: {}\n", program_name(), parameters_.title.empty() ? "untitled" : parameters_.title);
    say("  mesh      {}D, {} cells, {}\n", parameters_.mesh.dimension,
        join_cells(parameters_.mesh.cells), shape);
    say("  space     degree {}, {} DoFs, {} nodes, {} {} points an axis\n", space.degree,
        human_count(static_cast<double>(lattice.size())), name_of(space.nodes), space.points,
        name_of(space.quadrature));
    say("  operator  {}{}, {} precision, {}\n", strategy().text(),
        choice_.empty() ? "" : fmt::format(" ({})", choice_),
        name_of(parameters_.operation.precision), processor_text());
    if (!geometry_.empty()) say("  geometry  {}\n", geometry_);
    say("  solver    {}, preconditioner {}, relative tolerance {:g}, at most {} iterations\n",
        name_of(solver.method), name_of(solver.preconditioner), solver.relative_tolerance,
        solver.max_iterations);
    say("  memory    about {} of {} available\n",
        human_bytes(static_cast<double>(estimate.peak().bytes())),
        human_bytes(static_cast<double>(available)));
    if (!on_gpu()) return;
    say("  GPU       about {} of {} free\n",
        human_bytes(static_cast<double>(gpu_estimate_.peak().bytes())),
        human_bytes(static_cast<double>(gpu_.free_bytes)));
  }

  void set_up() {
    const auto setup = timers_.scope("setup");
    {
      const auto scope = timers_.scope("mesh");
      discretization_.emplace(make_discretization(parameters_));
    }
    problem_ = make_problem(parameters_);
    exact_ = make_exact(parameters_);
    {
      const auto scope = timers_.scope("load");
      system_ = make_linear_system(problem_, *discretization_, make_initial(parameters_));
    }
    if (exact_) {
      // Found wanting now rather than after the solve.
      const auto scope = timers_.scope("exact solution");
      HostVector<double> values(discretization_->lattice.size());
      interpolate(*discretization_, *exact_, values);
    }
    notes_ = case_notes(parameters_);
    notes_.insert(notes_.end(), system_.notes.begin(), system_.notes.end());
    for (const std::string& note : notes_) say("  note      {}\n", note);
  }

  void solve_system() {
    const InterruptGuard guard;
    Progress progress(std::cerr,
                      verbosity_ == Verbosity::quiet ? ProgressMode::silent : progress_mode(stderr),
                      {.target = parameters_.solver.relative_tolerance,
                       .max_iterations = parameters_.solver.max_iterations});
    EnergyMeter meter({.gpu_bus_id = gpu_.pci_bus_id});
    with_case_errors(loaded_, [&] {
      StiffnessForm form = stiffness_form(problem_, *discretization_);
      form.geometry = case_geometry(parameters_, parameters_.operation.kernel);
      const auto iteration = [&](int number, double residual) {
        progress.update(number, residual);
        meter.sample();
        return interrupted() ? Continue::no : Continue::yes;
      };
      const auto preconditioner = [&](const auto& levels, const auto& notes) {
        if (!levels.empty()) say("\n{}\n", level_table(levels));
        for (const std::string& note : notes) say("  note      {}\n", note);
      };
      outcome_ = solve(parameters_, problem_, form, system_, timers_, {iteration, preconditioner});
    });
    energy_ = meter.stop();
    progress.finish();
    system_.b = {};
  }

  void evaluate() {
    const auto scope = timers_.scope("evaluate");
    if (system_.is_singular) shift_to_mean_zero();
    numbers_ = solution_numbers(*discretization_, system_.x.span(), problem_.coefficient);
    if (!exact_) return;
    try {
      errors_ = error_norms(*discretization_, system_.x.span(), *exact_);
    } catch (const BadExpressionValue& error) {
      // Finite at the nodes, but not in between: the solution is good without its errors.
      fmt::print(stderr, "tessera: no error norms: {} {}\n", error.key(), error.what());
    }
  }

  /// Solution and exact solution of a pure Neumann problem are meant up to a constant.
  void shift_to_mean_zero() {
    const SolutionNumbers numbers =
        solution_numbers(*discretization_, system_.x.span(), problem_.coefficient);
    const double mean = numbers.integral / numbers.volume;
    for (Index i = 0; i < system_.x.size(); ++i) system_.x[i] -= mean;
    if (exact_) exact_ = shifted(*exact_, mean_value(*discretization_, *exact_));
  }

  std::string status() const {
    const SolveStatus status = outcome_.report.status;
    return status == SolveStatus::converged ? ""
                                            : fmt::format("not converged: {}", status_name(status));
  }

  void write() {
    if (!on_gpu()) {
      const auto scope = timers_.scope("bandwidth test");
      copy_bandwidth_ = measure_bandwidth(omp_get_max_threads()).copy;
    }
    remove_results(directory_);
    write_text_file(directory_ / "case.toml", make_case_registry().to_toml(parameters_));
    write_residuals_csv(directory_ / "residuals.csv", outcome_.report.history,
                        system_.reference_norm);
    // The small files are written even if the disk is too full for the large one.
    std::exception_ptr failure;
    if (parameters_.output.vtk) {
      const auto output = timers_.scope("output");
      const auto scope = timers_.scope("solution.vtu");
      try {
        write_view_script(directory_, parameters_, status());
        write_solution(directory_, parameters_, *discretization_, {problem_.coefficient, exact_},
                       system_.x, status());
      } catch (const OutputError&) {
        failure = std::current_exception();
        std::error_code ignored;
        fs::remove(directory_ / "view.py", ignored);
      }
    }
    write_text_file(directory_ / "timings.csv", timer_csv(timers_, {copy_bandwidth_}));
    write_result_json(directory_ / "result.json", result());
    if (failure) std::rethrow_exception(failure);
  }

  RunResult result() const {
    const SolveReport& report = outcome_.report;
    RunResult result;
    result.title = parameters_.title;
    result.dimension = parameters_.mesh.dimension;
    result.degree = parameters_.space.degree;
    std::copy(parameters_.mesh.cells.begin(), parameters_.mesh.cells.end(), result.cells.begin());
    result.dofs = discretization_->lattice.size();
    result.kernel = parameters_.operation.kernel;
    result.scatter = parameters_.operation.scatter;
    result.geometry = geometry_.empty() ? "none" : std::string(name_of(parameters_.space.geometry));
    result.device = name_of(parameters_.run.device);
    result.threads = omp_get_max_threads();
    result.precision = name_of(parameters_.operation.precision);
    result.solver = {std::string(name_of(parameters_.solver.method)),
                     std::string(name_of(parameters_.solver.preconditioner)),
                     std::string(status_name(report.status)),
                     report.iterations,
                     report.status == SolveStatus::converged,
                     report.history.front(),
                     report.true_relative_residual,
                     parameters_.solver.relative_tolerance,
                     likely_causes(parameters_, report),
                     level_results(),
                     notes_};
    result.solver.notes.insert(result.solver.notes.end(), outcome_.notes.begin(),
                               outcome_.notes.end());
    if (errors_) result.error = {errors_->l2, errors_->h1_seminorm, errors_->max};
    result.solution = {numbers_.min, numbers_.max, numbers_.integral, numbers_.energy};
    const double apply = apply_seconds();
    result.timing = {timers_.seconds("setup"),
                     timers_.seconds("solve"),
                     apply,
                     apply > 0.0 ? outcome_.apply_work.dofs / apply : 0.0,
                     apply > 0.0 ? outcome_.apply_work.bytes / apply * 1e-9 : 0.0,
                     timers_.elapsed()};
    const std::optional<double> joules = energy_.joules();
    const double dofs = static_cast<double>(result.dofs);
    result.energy_use = {energy_.cpu.joules, energy_.gpu ? energy_.gpu->joules : std::nullopt,
                         joules ? std::optional(*joules / dofs) : std::nullopt, energy_.note()};
    result.memory = {outcome_.operator_bytes, peak_resident_bytes()};
    const Machine machine = describe_machine();
    result.provenance = {kVersion,
                         kCommit,
                         kCompiler,
                         machine_summary(machine),
                         on_gpu() ? gpu_.name : "not used",
                         fmt::format("{:%Y-%m-%dT%H:%M:%SZ}",
                                     fmt::gmtime(std::chrono::system_clock::to_time_t(started_)))};
    result.timers = timer_json(timers_);
    return result;
  }

  std::vector<RunResult::Level> level_results() const {
    std::vector<RunResult::Level> levels;
    for (const LevelSummary& level : outcome_.levels) {
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

  /// Mean over the solve.
  double apply_seconds() const {
    for (const TimerTree::Part& part : timers_.parts()) {
      for (const TimerTree::Part& child : part.children) {
        if (part.name == "solve" && child.name == "apply" && child.calls > 0) {
          return child.total / static_cast<double>(child.calls);
        }
      }
    }
    return 0.0;
  }

  void print_results() {
    const SolveReport& report = outcome_.report;
    say("{} after {} iteration{}: relative residual {:.3g} (from {:.3g}, target {:g})\n",
        status_name(report.status), report.iterations, report.iterations == 1 ? "" : "s",
        report.true_relative_residual, report.history.front(),
        parameters_.solver.relative_tolerance);
    say("  solution  min {:.6g}, max {:.6g}, integral {:.8g}, energy {:.8g}\n", numbers_.min,
        numbers_.max, numbers_.integral, numbers_.energy);
    if (errors_) {
      say("  error     L2 {:.4g}, H1 seminorm {:.4g}, max {:.4g}\n", errors_->l2,
          errors_->h1_seminorm, errors_->max);
    }
    say("  energy    {}\n", energy_.text(static_cast<double>(discretization_->lattice.size())));
    say("\n{}", timer_table(timers_, {copy_bandwidth_}));
    say("copy bandwidth {} (measured, {})\n\n", human_bytes_per_second(copy_bandwidth_),
        processor_text());
    say("Results are in {}\n", directory_.string());
    if (parameters_.output.vtk) {
      say("To see them: paraview --script={}\n", (directory_ / "view.py").string());
    }
  }

  void complain() const {
    const SolveReport& report = outcome_.report;
    fmt::print(stderr,
               "tessera: the solver did not converge: {} after {} iterations; relative residual "
               "{:.3g} -> {:.3g}, target {:g}\n",
               status_name(report.status), report.iterations, report.history.front(),
               report.true_relative_residual, parameters_.solver.relative_tolerance);
    for (const std::string& cause : likely_causes(parameters_, report)) {
      fmt::print(stderr, "tessera: likely cause: {}\n", cause);
    }
  }

  TimerTree timers_;
  LoadedCase loaded_;
  std::string choice_;
  std::string geometry_;
  const CaseParameters& parameters_;
  fs::path directory_;
  std::optional<OutputDirectory> output_directory_;
  Verbosity verbosity_;
  std::chrono::system_clock::time_point started_;
  std::optional<Discretization> discretization_;
  PoissonProblem problem_;
  std::optional<ScalarField> exact_;
  LinearSystem system_;
  // Of the case and its data.
  std::vector<std::string> notes_;
  SolveOutcome outcome_;
  EnergyUse energy_;
  SolutionNumbers numbers_{};
  std::optional<ErrorNorms> errors_;
  double copy_bandwidth_ = 0.0;
  DeviceInfo gpu_;
  MemoryEstimate gpu_estimate_;
};

}  // namespace

ExitCode run(const RunCommand& command) {
  Run run(make_case_registry().load(command.case_file, command.overrides), command.verbosity);
  return run.execute();
}

}  // namespace tessera
