// This file measures solvers and prints their table.
#include "src/study/solver_comparison.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "mesh/saturated.hpp"
#include "postprocess/files/atomic_file.hpp"
#include "postprocess/files/human_units.hpp"
#include "postprocess/files/text_table.hpp"
#include "solvers/errors.hpp"
#include "solvers/interruption.hpp"
#include "solvers/memory/device.hpp"
#include "src/case/preconditioner_memory.hpp"
#include "src/case/setup.hpp"
#include "src/case/shape.hpp"
#include "src/case/strategy.hpp"
#include "src/commands/interrupt.hpp"
#include "src/commands/solution_file.hpp"
#include "src/commands/standard_streams.hpp"
#include "src/machine/machine.hpp"
#include "src/study/machine.hpp"
#include "src/study/solver_measurement.hpp"

namespace tessera {
namespace {

constexpr char kRow[] = "  {:<26} {:>9} {:>10} {:>10} {:>10} {:>11} {:>10} {:>10} {:>11}\n";

class SolverComparison {
 public:
  SolverComparison(const StudyParameters& study, Verbosity verbosity)
      : study_(study), verbosity_(verbosity) {
    csv_ = csv_line({"dimension",   "geometry",           "degree",
                     "dofs",        "precision",          "threads",
                     "operator",    "operator_setup_s",   "solver",
                     "method",      "relative_tolerance", "setup_s",
                     "repetitions", "iterations",         "min_s",
                     "median_s",    "dofs_per_s",         "relative_residual",
                     "l2_error",    "j_per_dof",          "outcome"});
  }

  ExitCode execute() {
    say("{}: {}\n", program_name(), study_.title.empty() ? "solvers" : study_.title);
    say("{}; {}, relative tolerance {:g}, at most {} repetitions, {} smoothing steps\n",
        study_processor_name(study_), name_of(study_.method), study_.relative_tolerance,
        study_.repetitions, study_.multigrid.smoother_degree);
    // What was measured is not lost with the rest.
    try {
      for (const StudyProblem& problem : study_problems(study_)) {
        stop_if_requested();
        measure(problem);
      }
    } catch (const Interrupted&) {
      if (has_rows()) write_rows();
      return ExitCode::interrupted;
    } catch (...) {
      if (has_rows()) write_rows();
      throw;
    }
    write_rows();
    if (interrupted()) return ExitCode::interrupted;
    if (failures_ == 0) return ExitCode::success;
    print_err("tessera: {} solve{} did not converge\n", failures_, failures_ == 1 ? "" : "s");
    return ExitCode::not_converged;
  }

 private:
  template <class... Arguments>
  void say(fmt::format_string<Arguments...> format, Arguments&&... arguments) const {
    if (verbosity_ == Verbosity::normal) print_out(format, std::forward<Arguments>(arguments)...);
  }

  // Beside the header.
  bool has_rows() const { return std::count(csv_.begin(), csv_.end(), '\n') > 1; }

  void write_rows() const {
    if (study_.output.empty()) return;
    write_text_file(study_.output, csv_);
    say("\nmeasurements are in {}\n", study_.output);
  }

  bool on_gpu() const { return study_processor(study_) == Processor::gpu; }

  Index available() const { return study_available_bytes(study_); }

  void measure(const StudyProblem& problem) {
    CaseParameters plain = solver_case(study_, problem, StudySolver::none);
    plain.output.vtk = false;
    const Index least = solving_bytes(plain);
    if (least > available()) {
      say("\n{}D {}, degree {}, about {} DoFs: does not fit, needs {}, available {}\n",
          problem.dimension, name_of(problem.geometry), problem.degree,
          human_count(static_cast<double>(problem.target_dofs)), bytes(least), bytes(available()));
      return;
    }
    SolverBench bench(study_, problem);
    say("\n{}D {}, degree {}, {} DoFs, {}, {}; operator made in {}\n", problem.dimension,
        name_of(problem.geometry), problem.degree, human_count(static_cast<double>(bench.dofs())),
        name_of(problem.precision), bench.strategy(), human_seconds(bench.operator_seconds()));
    say(kRow, "solver", "setup", "iterations", "min", "median", "DoF/s", "residual", "L2 error",
        "J per DoF");
    for (const StudySolver solver : study_.solvers) {
      stop_if_requested();
      report(problem, bench, measured(problem, bench, solver));
    }
  }

  SolverMeasurement measured(const StudyProblem& problem, SolverBench& bench, StudySolver solver) {
    SolverMeasurement failed{solver};
    const CaseParameters parameters = solver_case(study_, problem, solver);
    const Index needed = solver_bytes(parameters);
    if (needed > available()) {
      failed.left_out =
          fmt::format("does not fit: needs {}, available {}", bytes(needed), bytes(available()));
      return failed;
    }
    try {
      return bench.measure(solver);
    } catch (const DeviceOutOfMemory& error) {
      failed.left_out = error.what();
    } catch (const std::bad_alloc&) {
      failed.left_out = "out of memory";
    } catch (const UnsuitableChoice& error) {
      failed.left_out = error.what();
    } catch (const NumericalBreakdown& error) {
      failed.left_out = error.what();
    }
    return failed;
  }

  void report(const StudyProblem& problem, const SolverBench& bench, const SolverMeasurement& m) {
    const std::string name(name_of(m.solver));
    std::vector<std::string> row = {fmt::format("{}", problem.dimension),
                                    std::string(name_of(problem.geometry)),
                                    fmt::format("{}", problem.degree),
                                    fmt::format("{}", bench.dofs()),
                                    std::string(name_of(problem.precision)),
                                    fmt::format("{}", problem.threads),
                                    bench.strategy(),
                                    fmt::format("{:.6g}", bench.operator_seconds()),
                                    name,
                                    std::string(name_of(study_.method)),
                                    fmt::format("{:g}", study_.relative_tolerance)};
    if (!m.left_out.empty()) {
      say("  {:<26} left out: {}\n", name, m.left_out);
      row.resize(row.size() + 9);
      row.emplace_back("left out");
      csv_ += csv_line(row);
      return;
    }
    const bool converged = m.report.status == SolveStatus::converged;
    // It is not meant to reach the tolerance.
    const bool is_start =
        m.solver == StudySolver::full_multigrid && m.report.status == SolveStatus::iteration_limit;
    if (!converged && !is_start) ++failures_;
    const double rate = static_cast<double>(bench.dofs()) / m.min_seconds;
    say(kRow, name, human_seconds(m.setup_seconds),
        converged  ? fmt::format("{}", m.report.iterations)
        : is_start ? fmt::format("start: {}", m.report.iterations)
                   : fmt::format("NO: {}", m.report.iterations),
        human_seconds(m.min_seconds), human_seconds(m.median_seconds), human_dofs_per_second(rate),
        fmt::format("{:.1e}", m.report.true_relative_residual),
        m.l2_error ? fmt::format("{:.2e}", *m.l2_error) : "-",
        m.joules_per_dof ? fmt::format("{:.2e}", *m.joules_per_dof) : "-");
    if (!m.joules_per_dof && !m.energy_note.empty() && !said_energy_) {
      said_energy_ = true;
      say("  energy is not measured: {}\n", m.energy_note);
    }
    for (const std::string& cell :
         {fmt::format("{:.6g}", m.setup_seconds), fmt::format("{}", m.repetitions),
          fmt::format("{}", m.report.iterations), fmt::format("{:.6g}", m.min_seconds),
          fmt::format("{:.6g}", m.median_seconds), fmt::format("{:.6g}", rate),
          fmt::format("{:.3g}", m.report.true_relative_residual),
          m.l2_error ? fmt::format("{:.3g}", *m.l2_error) : std::string(),
          m.joules_per_dof ? fmt::format("{:.4g}", *m.joules_per_dof) : std::string("not measured"),
          std::string(is_start ? "start, above tolerance" : status_name(m.report.status))}) {
      row.push_back(cell);
    }
    csv_ += csv_line(row);
  }

  // With no preconditioner, in the memory that solvers work in.
  Index solving_bytes(const CaseParameters& plain) const {
    const StrategyName strategy = case_strategy(plain);
    return (on_gpu() ? estimate_gpu_memory(plain, strategy) : estimate_memory(plain, strategy))
        .peak()
        .bytes();
  }

  // Of a solver beside operator, x and b, in the memory that it works in.
  Index solver_bytes(const CaseParameters& parameters) const {
    const OperatorBytes preconditioner = preconditioner_bytes(parameters);
    const OperatorBytes on_host =
        on_gpu() ? OperatorBytes{0, 0} : preconditioner_host_bytes(parameters);
    const NodeLattice lattice(make_box_mesh(parameters), parameters.space.degree);
    const Saturated vectors =
        Saturated(lattice.size()) * value_bytes(parameters.operation.precision) *
        solver_vectors(parameters, {parameters.operation.kernel, parameters.operation.scatter});
    const Saturated held = Saturated(preconditioner.held) + on_host.held;
    return std::max<Index>({Saturated(preconditioner.peak) + on_host.peak, held + vectors,
                            held + full_multigrid_bytes(parameters)});
  }

  static std::string bytes(Index n) { return human_bytes(static_cast<double>(n)); }

  const StudyParameters& study_;
  Verbosity verbosity_;
  std::string csv_;
  int failures_ = 0;
  bool said_energy_ = false;
};

}  // namespace

ExitCode compare_solvers(const StudyParameters& study, Verbosity verbosity) {
  return SolverComparison(study, verbosity).execute();
}

}  // namespace tessera
