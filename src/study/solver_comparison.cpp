// Solves by the solvers of a study, and their table.
#include <fmt/format.h>

#include <algorithm>

#include "mesh/saturated.hpp"
#include "postprocess/files/human_units.hpp"
#include "postprocess/files/text_table.hpp"
#include "solvers/errors.hpp"
#include "solvers/memory/device.hpp"
#include "src/case/memory/memory_estimate.hpp"
#include "src/case/memory/multigrid_memory.hpp"
#include "src/case/memory/preconditioner_memory.hpp"
#include "src/case/ranks/rank_partition.hpp"
#include "src/case/ranks/rank_parts.hpp"
#include "src/case/setup.hpp"
#include "src/case/shape.hpp"
#include "src/case/strategy.hpp"
#include "src/commands/run/solution_file.hpp"
#include "src/commands/standard_streams.hpp"
#include "src/machine/known_rates.hpp"
#include "src/study/solver_measurement.hpp"
#include "src/study/study_run.hpp"

namespace tessera {
namespace {

constexpr char kRow[] = "  {:<26} {:>9} {:>10} {:>10} {:>10} {:>11} {:>10} {:>10} {:>11}\n";

const std::vector<std::string> kColumns = {"dimension",   "geometry",           "degree",
                                           "dofs",        "precision",          "threads",
                                           "operator",    "operator_setup_s",   "solver",
                                           "method",      "relative_tolerance", "setup_s",
                                           "repetitions", "iterations",         "min_s",
                                           "median_s",    "dofs_per_s",         "relative_residual",
                                           "l2_error",    "j_per_dof",          "outcome"};

class SolverComparison final : public StudyRun {
 public:
  SolverComparison(const StudyParameters& study, const CompareCommand& command,
                   const Communicator& ranks)
      : StudyRun(study, command, kColumns, ranks) {}

 private:
  void introduce() const override {
    say("{}: {}\n", program_name(), study().title.empty() ? "solvers" : study().title);
    say("{}; {}, relative tolerance {:g}, at most {} repetitions, {} smoothing steps\n",
        processor_name(), name_of(study().solver.method), study().solver.relative_tolerance,
        study().repetitions, study().solver.multigrid.smoother_degree);
  }

  ExitCode conclude() const override {
    if (failures_ == 0) return ExitCode::success;
    print_err("tessera: {} solve{} did not converge\n", failures_, failures_ == 1 ? "" : "s");
    return ExitCode::not_converged;
  }

  void measure(const StudyProblem& problem) override {
    CaseParameters plain = solver_case(study(), problem, kNoPreconditioner);
    plain.output.vtk = false;
    plain.output.picture = false;
    const auto leave_out = [&](const std::string& reason) {
      say("\n{}D {}, degree {}, about {} DoFs: left out: {}\n", problem.dimension,
          name_of(problem.geometry), problem.degree,
          human_count(static_cast<double>(problem.target_dofs)), reason);
      for (const std::string& solver : study().solvers) leave_out_row(problem, solver, reason);
    };
    std::optional<BoxPartition> partition;
    try {
      partition = ranks().partition(study(), problem);
    } catch (const UnsuitableRanks& error) {
      return leave_out(error.what());
    }
    const Index least = solving_bytes(plain, partition);
    const Index free = available();
    if (least > free) {
      return leave_out(
          fmt::format("does not fit: needs {}, available {}", bytes_text(least), bytes_text(free)));
    }
    const std::unique_ptr<SolverBench> bench = make_solver_bench(study(), problem, ranks());
    say("\n{}D {}, degree {}, {} DoFs, {}, {}{}; operator made in {}\n", problem.dimension,
        name_of(problem.geometry), problem.degree, human_count(static_cast<double>(bench->dofs())),
        name_of(problem.precision), bench->strategy(), ranks_text(problem),
        human_seconds(bench->operator_seconds()));
    say(kRow, "solver", "setup", "iterations", "min", "median", "DoF/s", "residual", "L2 error",
        "J per DoF");
    for (const std::string& solver : study().solvers) {
      ranks().stop_if_asked();
      report(problem, *bench, measured(problem, *bench, solver));
    }
  }

  SolverMeasurement measured(const StudyProblem& problem, SolverBench& bench,
                             const std::string& solver) {
    SolverMeasurement failed{solver};
    const CaseParameters parameters = solver_case(study(), problem, solver);
    const Index needed = solver_bytes(parameters, ranks().partition(study(), problem));
    const Index free = available();
    if (needed > free) {
      failed.left_out =
          fmt::format("does not fit: needs {}, available {}", bytes_text(needed), bytes_text(free));
      return failed;
    }
    const auto left_out = [&](const char* why) {
      rethrow_unless_all_failed(solver);
      failed.left_out = why;
      return failed;
    };
    try {
      return bench.measure(solver, launches());
    } catch (const DeviceOutOfMemory& error) {
      return left_out(error.what());
    } catch (const std::bad_alloc&) {
      return left_out("out of memory");
    } catch (const UnsuitableChoice& error) {
      return left_out(error.what());
    } catch (const NumericalBreakdown& error) {
      return left_out(error.what());
    }
  }

  // What a row begins with. @param operator_seconds empty: the operator was not made
  std::vector<std::string> row_head(const StudyProblem& problem, const std::string& strategy,
                                    const std::string& operator_seconds,
                                    const std::string& solver) const {
    const NodeLattice lattice(make_study_mesh(problem), problem.degree);
    // What 0 stands for differs between numbers of ranks.
    const int threads = study().append ? ranks().threads(problem.threads) : problem.threads;
    return {fmt::format("{}", problem.dimension),
            std::string(name_of(problem.geometry)),
            fmt::format("{}", problem.degree),
            fmt::format("{}", lattice.dof_count()),
            std::string(name_of(problem.precision)),
            fmt::format("{}", threads),
            strategy,
            operator_seconds,
            solver,
            std::string(name_of(study().solver.method)),
            fmt::format("{:g}", study().solver.relative_tolerance)};
  }
  // Adds the row, which has its head, of a solver that was not measured.
  void add_left_out(std::vector<std::string> row, const StudyProblem& problem,
                    const std::string& reason) {
    row.resize(row.size() + 9);
    row.push_back("left out: " + reason);
    add_row(std::move(row), problem);
  }
  // On a problem that no operator was made for.
  void leave_out_row(const StudyProblem& problem, const std::string& solver,
                     const std::string& reason) {
    const std::string strategy = study_solver_strategy(study(), problem).text();
    add_left_out(row_head(problem, strategy, "", solver), problem, reason);
  }

  void report(const StudyProblem& problem, const SolverBench& bench, const SolverMeasurement& m) {
    const std::string& name = m.solver;
    std::vector<std::string> row =
        row_head(problem, bench.strategy(), fmt::format("{:.6g}", bench.operator_seconds()), name);
    if (!m.left_out.empty()) {
      say("  {:<26} left out: {}\n", name, m.left_out);
      return add_left_out(std::move(row), problem, m.left_out);
    }
    const bool converged = m.report.status == SolveStatus::converged;
    // It is not meant to reach the tolerance.
    const bool is_start =
        m.solver == kFullMultigrid && m.report.status == SolveStatus::iteration_limit;
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
    add_measured_row(row, problem);
    if (m.launches.empty()) return;
    const std::vector<std::string> measured = {row[0], row[1], row[2], row[3], row[4], name};
    add_launches(measured, m.launches, copy_rate());
  }

  static double copy_rate() {
    if constexpr (kHasCuda) return known_device_rates(require_device()).memory.copy;
    return 0.0;
  }

  // With no preconditioner, in the memory that solvers work in; of the rank that needs most.
  Index solving_bytes(const CaseParameters& plain,
                      const std::optional<BoxPartition>& partition) const {
    const StrategyName strategy = case_strategy(plain);
    if (partition) {
      const int rank = largest_part(*partition, plain.space.degree);
      return (on_gpu() ? estimate_rank_gpu_memory(plain, strategy, *partition, rank)
                       : estimate_rank_memory(plain, strategy, *partition, rank, 1))
          .peak()
          .bytes();
    }
    return (on_gpu() ? estimate_gpu_memory(plain, strategy) : estimate_memory(plain, strategy))
        .peak()
        .bytes();
  }

  // Of a solver beside operator, x and b, in the memory that it works in; of the rank that needs
  // most.
  Index solver_bytes(const CaseParameters& whole,
                     const std::optional<BoxPartition>& partition) const {
    if (!partition) return solver_bytes(whole);
    const int rank = largest_part(*partition, whole.space.degree);
    return Saturated(solver_bytes(part_case(whole, *partition, rank))) +
           gathered_bytes(whole, *partition) + exchange_bytes(whole, *partition, rank);
  }
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

  int failures_ = 0;
  bool said_energy_ = false;
};

}  // namespace

ExitCode compare_solvers(const StudyParameters& study, const CompareCommand& command,
                         const Communicator& ranks) {
  return SolverComparison(study, command, ranks).execute();
}

}  // namespace tessera
