// Applications of the strategies of a study, and their table.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "mesh/box_text.hpp"
#include "operators/cells/scatter.hpp"
#include "postprocess/files/human_units.hpp"
#include "postprocess/files/text_table.hpp"
#include "solvers/errors.hpp"
#include "solvers/memory/device.hpp"
#include "src/case/memory/memory_estimate.hpp"
#include "src/case/ranks/rank_efficiency.hpp"
#include "src/case/ranks/rank_partition.hpp"
#include "src/commands/run/solution_file.hpp"
#include "src/machine/known_rates.hpp"
#include "src/machine/machine.hpp"
#include "src/study/measurement.hpp"
#include "src/study/study_run.hpp"

namespace tessera {
namespace {

constexpr char kRow[] = "  {:<{}} {:>9} {:>10} {:>9} {:>9} {:>10} {:>8} {:>8} {:<4}  {}\n";

// Outcomes of what was not measured.
constexpr char kUnsuitable[] = "unsuitable";
constexpr char kDoesNotFit[] = "does not fit";

std::string cells_text(const BoxMesh& mesh) { return box_text(mesh.cells(), mesh.dimension()); }

const std::vector<std::string> kColumns = {"dimension",
                                           "geometry",
                                           "degree",
                                           "points",
                                           "dofs",
                                           "precision",
                                           "threads",
                                           "kernel",
                                           "scatter",
                                           "geometry_form",
                                           "setup_s",
                                           "operator_bytes",
                                           "repetitions",
                                           "min_s",
                                           "median_s",
                                           "dofs_per_s",
                                           "gbytes_per_s",
                                           "gflops_per_s",
                                           "useful_gflops_per_s",
                                           "transfer_s",
                                           "useful_gflops_per_s_with_transfers",
                                           "copy_gbytes_per_s",
                                           "bandwidth_share",
                                           "difference",
                                           "outcome",
                                           "peak_gflops",
                                           "peak_gflops_single",
                                           "cache_gbytes_per_s",
                                           "limit_share",
                                           "limit"};

class OperatorComparison final : public StudyRun {
 public:
  OperatorComparison(const StudyParameters& study, const CompareCommand& command,
                     const Communicator& ranks)
      : StudyRun(study, command, kColumns, ranks) {
    for (const StudyProblem& problem : problems()) {
      for (const StrategyName& strategy : study_strategies(study, problem)) {
        name_width_ = std::max(name_width_, strategy.text().size());
        ++measurements_;
      }
    }
  }

 private:
  void introduce() const override {
    say("{}: {}\n", program_name(), study().title.empty() ? "comparison" : study().title);
    say("{}; {} problems, {} measurements; {} applications a repetition, at most {} "
        "repetitions\n",
        processor_name(), problems().size(), measurements_, study().applications,
        study().repetitions);
    say("of limit: the least time, max(bytes / bandwidth, flops / fma), as a share of the time "
        "taken;\nby: copy (the memory), L1 to L3 (the cache with most of the data) or fma "
        "(arithmetic)\n");
  }

  ExitCode conclude() const override {
    if (disagreements_ == 0) return ExitCode::success;
    print_err(
        "tessera: {} measurement{} did not agree with the first strategy, or were not finite\n",
        disagreements_, disagreements_ == 1 ? "" : "s");
    return ExitCode::not_converged;
  }

  const MeasuredRates& rates(int threads) {
    const auto [entry, is_new] = rates_.try_emplace(threads);
    if (!is_new) return entry->second;
    return entry->second =
               on_gpu() ? ranks().measured_gpu_rates() : ranks().measured_rates(threads);
  }

  void measure(const StudyProblem& problem) override {
    const int threads = ranks().threads(problem.threads);
    const MeasuredRates& rates = this->rates(threads);
    const BoxMesh mesh = make_study_mesh(problem);
    const NodeLattice lattice(mesh, problem.degree);
    std::optional<BoxPartition> partition;
    try {
      partition = ranks().partition(study(), problem);
    } catch (const UnsuitableRanks& error) {
      say("\n{}D {}, degree {}, {} cells: left out: {}\n", problem.dimension,
          name_of(problem.geometry), problem.degree, cells_text(mesh), error.what());
      return leave_out(problem, threads, rates, kUnsuitable);
    }
    say("\n{}D {}, degree {}, {} DoFs ({} cells), {} points per axis, {}, {}{}\n"
        "  limits: {}\n",
        problem.dimension, name_of(problem.geometry), problem.degree,
        human_count(static_cast<double>(lattice.dof_count())), cells_text(mesh),
        problem.degree + study().extra_points, name_of(problem.precision),
        on_gpu() ? "GPU" : fmt::format("{} thread{}", threads, threads == 1 ? "" : "s"),
        ranks_text(problem), rates_text(rates.in(problem.precision)));
    if (!has_room(bench_bytes(problem, partition) + (on_gpu() ? kCudaProgramBytes : 0),
                  on_gpu() ? ranks().available(0) : available(), "")) {
      return leave_out(problem, threads, rates, kDoesNotFit);
    }
    if (on_gpu() && !has_room(gpu_bench_bytes(problem, partition), available(), " on the GPU")) {
      return leave_out(problem, threads, rates, kDoesNotFit);
    }
    say(kRow, "strategy", name_width_, "setup", "operator", "min", "median", "DoF/s", "GB/s",
        "of limit", "by", study().transfers ? "agrees; with transfers" : "agrees");
    Bench bench(study(), problem, ranks(),
                launches() == LaunchReports::yes ? std::optional(WaveStep::leave) : std::nullopt);
    for (const StrategyName& strategy : study_strategies(study(), problem)) {
      ranks().stop_if_asked();
      show_status(problem, strategy);
      const Measurement measurement = measure(bench, strategy);
      clear_status();
      report(problem, threads, rates, bench, measurement);
    }
  }

  /// Says so where a problem's vectors do not fit.
  bool has_room(Index needed, Index free, std::string_view where) const {
    if (needed <= free) return true;
    say("  too large: its vectors alone need {}{}, available {}\n", bytes_text(needed), where,
        bytes_text(free));
    return false;
  }

  /// What memory was foreseen may be gone, to other programs say: a strategy's loss, not the
  /// study's.
  Measurement measure(Bench& bench, const StrategyName& strategy) {
    Measurement failed;
    failed.strategy = strategy;
    try {
      return bench.measure(strategy, available());
    } catch (const UnsuitableChoice& error) {
      rethrow_unless_all_failed(strategy.text());
      failed.unsuitable = error.what();
    } catch (const DeviceOutOfMemory&) {
      rethrow_unless_all_failed(strategy.text());
      failed.needed_bytes = bench.needed_bytes(strategy);
    } catch (const std::bad_alloc&) {
      rethrow_unless_all_failed(strategy.text());
      failed.needed_bytes = bench.needed_bytes(strategy);
    }
    return failed;
  }

  // What a row begins with.
  std::vector<std::string> row_head(const StudyProblem& problem, int threads,
                                    const StrategyName& strategy) const {
    const NodeLattice lattice(make_study_mesh(problem), problem.degree);
    return {fmt::format("{}", problem.dimension),
            std::string(name_of(problem.geometry)),
            fmt::format("{}", problem.degree),
            fmt::format("{}", problem.degree + study().extra_points),
            fmt::format("{}", lattice.dof_count()),
            std::string(name_of(problem.precision)),
            fmt::format("{}", threads),
            strategy.kernel,
            strategy.scatter,
            strategy.factors ? std::string(factor_storage_name(*strategy.factors)) : "none"};
  }
  // The row of a strategy that was not measured.
  void leave_out(const StudyProblem& problem, int threads, const MeasuredRates& rates,
                 const StrategyName& strategy, std::string_view outcome) {
    std::vector<std::string> row = row_head(problem, threads, strategy);
    row.resize(row.size() + 14);
    row.emplace_back(outcome);
    add_machine(rates, row);
    row.resize(row.size() + 2);
    add_row(row, problem);
  }
  // The rows of all strategies on a problem.
  void leave_out(const StudyProblem& problem, int threads, const MeasuredRates& rates,
                 std::string_view outcome) {
    for (const StrategyName& strategy : study_strategies(study(), problem)) {
      leave_out(problem, threads, rates, strategy, outcome);
    }
  }

  void report(const StudyProblem& problem, int threads, const MeasuredRates& rates,
              const Bench& bench, const Measurement& m) {
    const Index dofs = bench.dofs();
    const double copy = rates.memory.copy;
    const std::vector<std::string> problem_cells = row_head(problem, threads, m.strategy);
    std::vector<std::string> row = problem_cells;
    if (!m.unsuitable.empty()) {
      say("  {:<{}} left out: {}\n", m.strategy.text(), name_width_, m.unsuitable);
      return leave_out(problem, threads, rates, m.strategy, kUnsuitable);
    }
    if (!m.fits) {
      const Index free = available();
      say("  {:<{}} does not fit: needs {}, available {}\n", m.strategy.text(), name_width_,
          bytes_text(m.needed_bytes), bytes_text(free));
      return leave_out(problem, threads, rates, m.strategy, kDoesNotFit);
    }
    const bool agrees =
        m.difference <=
        agreement_tolerance(study(), problem.precision, bench.first_kernel(), m.strategy.kernel);
    const ScatterInfo* scatter = find_scatter(m.strategy.scatter);
    const bool is_wrong_by_design = scatter != nullptr && scatter->use == ScatterUse::comparison;
    // A strategy that is wrong by design still has finite values everywhere.
    const bool is_finite = std::isfinite(m.difference);
    if (!agrees && !(is_wrong_by_design && is_finite)) ++disagreements_;
    const double dofs_rate = static_cast<double>(dofs) / m.min_seconds;
    const double bytes_rate = m.cost.bytes / m.min_seconds;
    const Limit limit = limit_of({static_cast<double>(dofs), m.cost.bytes, m.cost.flops},
                                 rates.in(problem.precision));
    say(kRow, m.strategy.text(), name_width_, human_seconds(m.setup_seconds),
        bytes_text(m.operator_bytes), human_seconds(m.min_seconds), human_seconds(m.median_seconds),
        human_dofs_per_second(dofs_rate), fmt::format("{:.1f}", bytes_rate * 1e-9),
        human_percent(limit.share(m.min_seconds)), limit.name,
        (agrees               ? fmt::format("{:.0e}", m.difference)
         : !is_finite         ? "NO: values that are not finite"
         : is_wrong_by_design ? fmt::format("no, as meant: {:.1e}", m.difference)
                              : fmt::format("NO: {:.1e}", m.difference)) +
            (m.transfer_seconds > 0.0 ? "; " + human_seconds(m.transfer_seconds) : ""));
    const double useful = 2e-9 * static_cast<double>(bench.nonzeros());
    for (const double value :
         {m.setup_seconds, static_cast<double>(m.operator_bytes),
          static_cast<double>(m.repetitions), m.min_seconds, m.median_seconds, dofs_rate,
          bytes_rate * 1e-9, m.cost.flops / m.min_seconds * 1e-9, useful / m.min_seconds,
          m.transfer_seconds, m.transfer_seconds > 0.0 ? useful / m.transfer_seconds : 0.0,
          copy * 1e-9, bytes_rate / copy, m.difference}) {
      row.push_back(fmt::format("{:.6g}", value));
    }
    row.emplace_back(agrees               ? "agrees"
                     : !is_finite         ? "not finite"
                     : is_wrong_by_design ? "wrong by design"
                                          : "disagrees");
    add_machine(rates, row);
    row.push_back(fmt::format("{:.6g}", limit.share(m.min_seconds)));
    row.push_back(limit.name);
    add_measured_row(row, problem, foreseen_seconds(problem, m.cost, copy));
    if (!m.launches) return;
    add_launches({problem_cells[0], problem_cells[1], problem_cells[2], problem_cells[4],
                  problem_cells[5], m.strategy.text()},
                 {*m.launches}, copy);
  }

  // One application, where it takes what its bytes take, and the exchange between ranks; 0 on a
  // GPU.
  double foreseen_seconds(const StudyProblem& problem, const Cost& cost, double copy) const {
    if (on_gpu() || copy <= 0.0) return 0.0;
    const std::optional<BoxPartition> partition = ranks().partition(study(), problem);
    if (!partition) return cost.bytes / copy;
    const BoxMesh mesh = make_study_mesh(problem);
    const auto dofs = static_cast<double>(NodeLattice(mesh, problem.degree).dof_count());
    return forecast_ranks(mesh, problem.degree, *partition,
                          cost_on_host(cost.bytes / dofs, copy, ranks().size()))
        .seconds;
  }

  static void add_machine(const MeasuredRates& rates, std::vector<std::string>& row) {
    for (const double rate : {rates.fma.in_double, rates.fma.in_single, rates.last_cache()}) {
      row.push_back(fmt::format("{:.6g}", rate * 1e-9));
    }
  }

  bool shows_status() const {
    return verbosity() == Verbosity::normal && isatty(STDERR_FILENO) != 0;
  }
  void show_status(const StudyProblem& problem, const StrategyName& strategy) {
    ++started_;
    if (!shows_status()) return;
    print_err("measuring {} of {}: {}D degree {} {} ...", started_, measurements_,
              problem.dimension, problem.degree, strategy.text());
    std::fflush(stderr);
  }
  void clear_status() const {
    if (shows_status()) print_err("\r\033[K");
  }

  std::map<int, MeasuredRates> rates_;  // by threads
  // Of the column of strategies.
  std::size_t name_width_ = 16;
  std::size_t measurements_ = 0;
  std::size_t started_ = 0;
  int disagreements_ = 0;
};

}  // namespace

ExitCode compare_operators(const StudyParameters& study, const CompareCommand& command,
                           const Communicator& ranks) {
  return OperatorComparison(study, command, ranks).execute();
}

}  // namespace tessera
