// This file measures what the order of updates does to a relaxation.
#include "src/studies/update_order/relaxation_rows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "mesh/threads_in_use.hpp"
#include "solvers/configuration.hpp"
#include "solvers/interruption.hpp"
#include "src/studies/thread_team.hpp"
#include "src/studies/update_order/jacobi_radius.hpp"
#include "src/studies/update_order/relaxation.hpp"
#include "src/studies/update_order/relaxation_problems.hpp"
#include "src/studies/update_order/update_order_table.hpp"

namespace tessera {
namespace {

constexpr double kMicroseconds = 1e6;
constexpr int kSweepsAtATime[] = {1, 10};
constexpr const char* kAllProblems = "all";
/// The first run ends after so many time limits of a row, as do then the others.
constexpr double kRunOverTimeLimit = 2.0;

/// What runs of one order had after kKeptSweeps[k] sweeps, for each k that all runs reached.
struct KeptRuns {
  std::vector<int> sweeps;
  std::vector<std::vector<double>> residuals;  // [k][run]
  std::vector<std::vector<double>> seconds;    // of all sweeps so far
};

/// All orders on one problem whose rows are cut into blocks in one way.
template <class Space>
class RelaxationRows {
 public:
  /// @param radius rho(|I - D^-1 A|)
  RelaxationRows(StudyRecord& record, const RelaxationProblem& problem, std::string blocks,
                 const AssembledSystem<Space>& system, const HostVector<double>& load,
                 double radius, int threads)
      : record_(record),
        problem_(problem.name),
        blocks_(std::move(blocks)),
        radius_(radius),
        threads_(threads),
        relaxation_(system, load) {}

  void measure() {
    for (const RelaxationOrderInfo& info : relaxation_orders()) {
      if (!record_.options().selects(info.name)) continue;
      for (const int every : kSweepsAtATime) {
        // Sweeps that are apart anyway are so one at a time.
        if (every > 1 && info.sweeps == RelaxationOrderInfo::Sweeps::apart) continue;
        record_.show_status(fmt::format("{}, {}, {}", info.name, problem_, blocks_));
        add_rows(info, every, runs_of(info, every));
      }
    }
  }

 private:
  KeptRuns runs_of(const RelaxationOrderInfo& info, int every) {
    const Pace& pace = record_.options().pace;
    const int most = info.runs == RelaxationOrderInfo::Runs::same ? 1 : pace.repetitions;
    KeptRuns kept;
    for (const int sweeps : kKeptSweeps) {
      if (sweeps % every == 0) kept.sweeps.push_back(sweeps);
    }
    kept.residuals.resize(kept.sweeps.size());
    kept.seconds.resize(kept.sweeps.size());
    std::mt19937_64 random(record_.options().seed);
    // What is done once only, such as loading a kernel, counts for no run.
    relaxation_.start();
    relaxation_.relax(info.order, every, random);
    const double start = seconds_now();
    const auto has_time = [&] { return seconds_now() - start < pace.time_limit_s; };
    // A run that is the only one may take the time of the least number of others.
    const double run_limit_s =
        pace.time_limit_s * (most == 1 ? kMinStudyRepetitions : kRunOverTimeLimit);
    for (int run = 0; run < most && (run < kMinStudyRepetitions || has_time()); ++run) {
      run_once(info.order, every, random, run_limit_s, kept);
      // Later runs go as far as the first has come.
      if (run > 0) continue;
      std::erase_if(kept.residuals, [](const auto& residuals) { return residuals.empty(); });
      kept.sweeps.resize(kept.residuals.size());
      kept.seconds.resize(kept.residuals.size());
    }
    return kept;
  }

  /// The first run ends at the limit, but not before its first residual.
  void run_once(RelaxationOrder order, int every, std::mt19937_64& random, double limit_s,
                KeptRuns& kept) {
    const bool is_first = kept.residuals.front().empty();
    const double start = seconds_now();
    const auto is_over = [&] { return is_first && seconds_now() - start > limit_s; };
    double seconds = 0.0;
    int sweeps = 0;
    relaxation_.start();
    for (std::size_t k = 0; k < kept.sweeps.size(); ++k) {
      while (sweeps < kept.sweeps[k]) {
        stop_if_requested();
        if (k > 0 && is_over()) return;
        seconds += relaxation_.relax(order, every, random);
        sweeps += every;
      }
      kept.residuals[k].push_back(relaxation_.residual());
      kept.seconds[k].push_back(seconds);
    }
  }

  void add_rows(const RelaxationOrderInfo& info, int every, const KeptRuns& kept) {
    std::size_t k = 0;
    for (const int sweeps : kKeptSweeps) {
      if (sweeps % every != 0) continue;
      StudyRow row{.variant = info.name,
                   .threads = info.order == RelaxationOrder::sequential ? 1 : threads_,
                   .part = kRelaxationPart,
                   .parameters = relaxation_parameters(problem_, blocks_, every, sweeps),
                   .shown_per_second = kMicroseconds / sweeps};
      if (k == kept.sweeps.size()) {
        row.not_measured = "a run takes longer than the time limit";
        record_.add(std::move(row));
        continue;
      }
      row.seconds = summarize(kept.seconds[k]);
      const ResidualSpread spread = residual_spread(kept.residuals[k]);
      row.metrics = relaxation_cells(spread, radius_);
      record_.add(std::move(row));
      ++k;
    }
  }

  StudyRecord& record_;
  std::string problem_;
  std::string blocks_;
  double radius_;
  int threads_;
  Relaxation<Space> relaxation_;
};

template <class Space>
void measure_on(StudyRecord& record, int threads) {
  const std::string& wanted = record.options().own.text("problem");
  for (const RelaxationProblem& problem : relaxation_problems()) {
    if (wanted != kAllProblems && wanted != problem.name) continue;
    stop_if_requested();
    const DiscreteProblem discrete = discretize(problem);
    std::optional<double> radius;
    for (const NamedBlockShape& blocks : block_shapes()) {
      const AssembledSystem<Space> system = assemble_in_blocks<Space>(
          discrete.form, make_blocks(discrete.discretization->lattice, blocks.shape));
      if (!radius) radius = jacobi_radius(system.jacobi->rows());
      record.say("{}, blocks {}: {} DoFs, damping {:.3g}, relaxation {:.3g}, rho {:.5g}\n",
                 problem.name, blocks.name, discrete.load.size(), system.jacobi->damping(),
                 system.jacobi->relaxation(), *radius);
      RelaxationRows<Space>(record, problem, blocks.name, system, discrete.load, *radius, threads)
          .measure();
    }
  }
}

bool is_any_selected(const StudyOptions& options) {
  const auto& orders = relaxation_orders();
  return std::any_of(orders.begin(), orders.end(),
                     [&](const RelaxationOrderInfo& info) { return options.selects(info.name); });
}

/// The largest number of threads asked for that has cores; 0 if none has.
int usable_threads(const StudyOptions& options) {
  int most = 0;
  for (const int threads : options.threads) {
    if (why_no_team(threads).empty()) most = std::max(most, threads);
  }
  return most;
}

}  // namespace

std::vector<std::string> relaxation_variants() {
  std::vector<std::string> names;
  for (const RelaxationOrderInfo& info : relaxation_orders()) names.push_back(info.name);
  return names;
}

void measure_relaxation(StudyRecord& record) {
  if (!is_any_selected(record.options())) return;
  record.say(
      "relaxation: block Jacobi with 4 local sweeps of -Laplace u = 1, from x = 0; residual of so\n"
      "many sweeps over that of 0, and how far runs differ. Threads wait for each other after "
      "every\n"
      "sweep or every ten; hardware: a sweep at a time, a thread block for each block (on a CPU: "
      "each\n"
      "thread its part); rho(|I - D^-1 A|) < 1 promises convergence in every order\n");
  if constexpr (kHasCuda) {
    if (record.options().processor == Processor::gpu) return measure_on<Device>(record, 1);
  }
  const int threads = usable_threads(record.options());
  if (threads == 0) {
    record.say("relaxation: not measured: {}\n", why_no_team(record.options().threads.back()));
    return;
  }
  const ThreadsInUse in_use(threads);
  measure_on<Host>(record, threads);
}

}  // namespace tessera
