// This file measures programs, blocks and kernels on the GPU against what bounds them.
#include "src/studies/finishing_time/gpu_rows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <random>

#include "postprocess/timing/statistics.hpp"
#include "solvers/interruption.hpp"
#include "solvers/memory/device.hpp"
#include "src/machine/known_rates.hpp"
#include "src/studies/finishing_time/gpu_bounds.hpp"
#include "src/studies/finishing_time/warp_programs.hpp"
#include "src/studies/operator_launches/operator_launches.hpp"

namespace tessera {
namespace {

constexpr int kLaunches = 100;
/// Between these numbers of warps times grow by what the unit takes.
constexpr int kFewWarps = 16;
constexpr int kManyWarps = 32;
/// Two blocks of a multiprocessor.
constexpr int kMaxWarps = 64;

struct NamedMemory {
  ProgramMemory memory;
  const char* name;
};
constexpr NamedMemory kMemories[] = {{ProgramMemory::shared, "shared"},
                                     {ProgramMemory::l1, "l1"},
                                     {ProgramMemory::l2, "l2"},
                                     {ProgramMemory::dram, "dram"}};

ProgramMemory memory_named(const std::string& name) {
  const auto* const found =
      std::find_if(std::begin(kMemories), std::end(kMemories),
                   [&](const NamedMemory& each) { return name == each.name; });
  return found->memory;
}

class Programs {
 public:
  explicit Programs(StudyRecord& record)
      : record_(record), memory_(memory_named(record.options().own.text("memory"))) {}

  void measure() {
    for (const ProgramScalar scalar :
         {ProgramScalar::single_precision, ProgramScalar::double_precision}) {
      const double load = slope(WarpWork::loads, scalar);
      const double multiply_add = slope(WarpWork::multiply_adds, scalar);
      for (const int repetitions : program_repetitions()) {
        const double chain = median(cycles(WarpWork::program, scalar, repetitions, 1));
        for (int warps = 1; warps <= kMaxWarps; warps *= 2) {
          stop_if_requested();
          if (!WarpPrograms::holds(setup(WarpWork::program, scalar, repetitions, warps))) {
            record_.say(
                "{} warps, rep = {}, {}: not measured: a multiprocessor has too few registers\n",
                warps, repetitions, name_of(scalar));
            continue;
          }
          record_.show_status(fmt::format("{} warps, r = {}", warps, repetitions));
          add(scalar, repetitions, warps, load, multiply_add, chain);
        }
      }
    }
  }

 private:
  static const char* name_of(ProgramScalar scalar) {
    return scalar == ProgramScalar::double_precision ? "double" : "float";
  }

  [[nodiscard]] ProgramSetup setup(WarpWork work, ProgramScalar scalar, int repetitions,
                                   int warps) const {
    return {.work = work,
            .scalar = scalar,
            .memory = memory_,
            .repetitions = repetitions,
            .warps = warps};
  }
  [[nodiscard]] std::vector<double> cycles(WarpWork work, ProgramScalar scalar, int repetitions,
                                           int warps) {
    return programs_.cycles(setup(work, scalar, repetitions, warps), kLaunches);
  }

  /// Cycles of a warp's instruction where its unit is always busy.
  [[nodiscard]] double slope(WarpWork work, ProgramScalar scalar) {
    const double few = median(cycles(work, scalar, 1, kFewWarps));
    const double many = median(cycles(work, scalar, 1, kManyWarps));
    return (many - few) / ((kManyWarps - kFewWarps) * kInstructionsAlone);
  }

  void add(ProgramScalar scalar, int repetitions, int warps, double load, double multiply_add,
           double chain) {
    const StudyLayout& layout = record_.table().layout();
    std::vector<double> all = cycles(WarpWork::program, scalar, repetitions, warps);
    const double largest = *std::max_element(all.begin(), all.end());
    const double usual = median(std::move(all));
    const double bound = program_bound(warps, repetitions, load, multiply_add, chain);
    record_.add({.variant = kProgram,
                 .part = kProgram,
                 .parameters = texts_in(layout.parameters,
                                        {{"n", std::to_string(warps * kThreadsPerGpuWarp)},
                                         {"W", std::to_string(warps)},
                                         {"rep", std::to_string(repetitions)},
                                         {"scalar", name_of(scalar)},
                                         {"memory", record_.options().own.text("memory")}}),
                 .metrics = cells_in(layout.metrics, {{"cycles_per_load", load},
                                                      {"cycles_per_multiply_add", multiply_add},
                                                      {"chain", chain},
                                                      {"bound_cycles", bound},
                                                      {"cycles", usual},
                                                      {"largest_cycles", largest},
                                                      {"of_bound", largest / bound}})});
  }

  StudyRecord& record_;
  ProgramMemory memory_;
  WarpPrograms programs_;
};

class Kernels {
 public:
  explicit Kernels(StudyRecord& record)
      : record_(record), copy_(known_device_rates(require_device()).memory.copy) {}

  void measure() {
    visit_launches(
        record_.options(), WaveStep::leave,
        [this](const std::string& what) { record_.show_status("kernels of " + what); },
        [this](const OperatorLaunches& launches) { add(launches); });
  }

 private:
  void add(const OperatorLaunches& launches) {
    add_launch_rows(
        record_, launches, {.variant = kKernel, .part = kKernel},
        [&](const LaunchRecord& launch, StudyRow& row) {
          const double lower = launches.report.lower_seconds(launch, copy_);
          const double upper = launch.upper_seconds();
          row.metrics =
              cells_in(record_.table().layout().metrics,
                       {{"grid", static_cast<double>(launch.blocks())},
                        {"waves", launch.waves()},
                        {"lower_us", lower > 0.0 ? StudyCell(1e6 * lower) : StudyCell()},
                        {"measured_us", 1e6 * launch.seconds},
                        {"upper_us", 1e6 * upper},
                        {"of_upper", launch.seconds / upper},
                        {"of_lower", lower > 0.0 ? StudyCell(launch.seconds / lower) : StudyCell()},
                        {"kernel", launch.kernel}});
        });
  }

  StudyRecord& record_;
  double copy_;
};

}  // namespace

void measure_programs(StudyRecord& record) {
  record.say(
      "\nprogram: C (L L C)^rep S of every warp of a multiprocessor, in one block or two (64 "
      "warps), C a "
      "multiply-add; the compiler puts "
      "loads before\nthe multiply-adds that wait for them. cycles: from the first start to the "
      "last end on a\nmultiprocessor, the largest of all, median of {} launches; c_LS, c_C: what "
      "a warp's instruction\ntakes where its unit is always busy; chain: one warp alone; bound = "
      "W (2 rep + 1) c_LS +\nW (rep + 1) c_C + chain, a bound from measured parts\n",
      kLaunches);
  Programs(record).measure();
}

void measure_waiting_blocks(StudyRecord& record) {
  record.say(
      "\nblocks: blocks that wait for random times, on slots that the GPU fills as they become "
      "free;\nbound = sum / slots + (1 - 1 / slots) longest (Graham 1969)\n");
  constexpr int kWaves = 6;
  constexpr std::uint64_t kMaxNanoseconds = 2'000'000;
  WarpPrograms programs;
  const auto slots = static_cast<std::size_t>(programs.waiting_blocks({1000}).slots);
  std::mt19937_64 random(record.options().seed);
  for (int waves = 1; waves <= kWaves; ++waves) {
    std::vector<std::uint64_t> wanted(slots * static_cast<std::size_t>(waves) + slots / 3);
    for (std::uint64_t& nanoseconds : wanted) nanoseconds = random() % kMaxNanoseconds;
    const TimedBlocks blocks = programs.waiting_blocks(wanted);
    const double bound = graham_bound(blocks.seconds, static_cast<double>(slots));
    const StudyLayout& layout = record.table().layout();
    record.add(
        {.variant = kBlocks,
         .part = kBlocks,
         .parameters = texts_in(layout.parameters, {{"blocks", std::to_string(wanted.size())},
                                                    {"slots", std::to_string(slots)}}),
         .metrics = cells_in(layout.metrics, {{"graham_us", 1e6 * bound},
                                              {"all_us", 1e6 * blocks.all},
                                              {"of_graham", blocks.all / bound}})});
  }
}

void measure_kernels(StudyRecord& record) {
  record.say(
      "\nkernel: each kernel of an application and of a multigrid cycle; lower = least bytes at "
      "the bandwidth\nof a copy, where all launches are of one kernel; upper = waves one after "
      "another, each as long as the\nfirst wave alone with nothing in the cache: bounds from "
      "measured parts\n");
  Kernels(record).measure();
}

}  // namespace tessera
