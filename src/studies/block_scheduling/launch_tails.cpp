// This file reports which launches of operators leave multiprocessors idle at their end.
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>

#include "postprocess/files/human_units.hpp"
#include "src/studies/block_scheduling/scheduling_columns.hpp"
#include "src/studies/operator_launches/operator_launches.hpp"

namespace tessera {
namespace {

/// From so many waves on, a launch loses at most a tenth to its last one, whatever that holds.
constexpr double kWavesOfLittleIdle = 9.0;

std::string grid_text(const LaunchGrid& grid) {
  return fmt::format("{}x{}x{}", grid[0], grid[1], grid[2]);
}

class Tails {
 public:
  explicit Tails(StudyRecord& record) : record_(record) {}

  void measure() {
    visit_launches(
        record_.options(), WaveStep::measure,
        [this](const std::string& what) { record_.show_status("launches of " + what); },
        [this](const OperatorLaunches& launches) { add(launches); });
    conclude();
  }

 private:
  void add(const OperatorLaunches& launches) {
    const LaunchReport& report = launches.report;
    add_launch_rows(record_, launches, {.variant = kTail, .part = kTailPart},
                    [&](const LaunchRecord& launch, StudyRow& row) {
                      row.metrics = metrics(report, launch);
                      if (launch.foreseen.blocks != launch.blocks_per_multiprocessor) {
                        row.correctness = Correctness::wrong;
                        row.wrong =
                            fmt::format("the model has {} blocks a multiprocessor, CUDA {}",
                                        launch.foreseen.blocks, launch.blocks_per_multiprocessor);
                      }
                    });
    if (report.not_measured.empty() && report.work == "apply") remember(launches);
  }

  [[nodiscard]] std::vector<StudyCell> metrics(const LaunchReport& report,
                                               const LaunchRecord& launch) const {
    const KernelResources& takes = launch.resources;
    const auto number = [](auto value) { return StudyCell(static_cast<double>(value)); };
    return cells_in(record_.table().layout().metrics,
                    {{"launches", number(launch.count)},
                     {"grid", grid_text(launch.grid)},
                     {"threads_per_block", number(takes.threads)},
                     {"registers", number(takes.registers)},
                     {"shared_bytes", number(takes.shared_bytes)},
                     {"local_bytes", number(takes.local_bytes)},
                     {"blocks_per_multiprocessor", number(launch.blocks_per_multiprocessor)},
                     {"limit", std::string(limit_name(launch.foreseen.limit))},
                     {"slots", number(launch.slots())},
                     {"waves", launch.waves()},
                     {"last_wave_percent", 100.0 * launch.last_fill()},
                     {"idle_percent", 100.0 * launch.idle()},
                     {"microseconds", 1e6 * launch.seconds},
                     {"share_percent", 100.0 * report.share(launch)},
                     {"step_percent", launch.step ? StudyCell(100.0 * *launch.step) : StudyCell()},
                     {"kernel", launch.kernel}});
  }

  /// From how many DoFs on the largest part of an application has nine waves; known from those that
  /// have more than one, whose grids grow with the mesh.
  void remember(const OperatorLaunches& launches) {
    const std::vector<LaunchRecord>& all = launches.report.launches;
    const auto longest =
        std::max_element(all.begin(), all.end(), [&](const LaunchRecord& a, const LaunchRecord& b) {
          return launches.report.share(a) < launches.report.share(b);
        });
    if (longest == all.end() || longest->waves() <= 1.0) return;
    const double dofs = static_cast<double>(launches.dofs) * kWavesOfLittleIdle / longest->waves();
    needed_dofs_[fmt::format("{}, p = {}", launches.name, launches.degree)] = dofs;
  }

  void conclude() {
    record_.say("\nfrom how many DoFs on no last wave idles more than 10 % of a launch's time:\n");
    for (const auto& [name, dofs] : needed_dofs_) {
      record_.say("  {}: {}\n", name, human_count(dofs));
    }
    record_.say("  operators that are not named have less than a wave, or grids of whole waves\n");
  }

  StudyRecord& record_;
  std::map<std::string, double> needed_dofs_;
};

}  // namespace

void measure_tails(StudyRecord& record) {
  record.say(
      "\ntail: each kernel of an application and of a multigrid cycle; slots = multiprocessors x "
      "blocks\nof each, waves = blocks / slots, idle = 1 - waves / ceil(waves), what equal blocks "
      "lose; step: what\none block beyond whole waves takes, in percent of a wave\n");
  Tails(record).measure();
}

}  // namespace tessera
