// This file compares where the GPU starts blocks with what predictors say.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

#include "postprocess/files/atomic_file.hpp"
#include "solvers/interruption.hpp"
#include "solvers/memory/device.hpp"
#include "src/studies/block_scheduling/block_probe.hpp"
#include "src/studies/block_scheduling/scheduling_cases.hpp"
#include "src/studies/block_scheduling/scheduling_columns.hpp"

namespace tessera {
namespace {

/// Mismatches that are cut down; the rest is counted.
constexpr std::size_t kMaxCutDown = 10;
constexpr int kMaxKernels = 12;

/// A predictor and how often it was right.
struct Predictor {
  const char* name;
  PlacementRule rule;
  GpuModel gpu;
  int exact = 0;
  int same_multiprocessors = 0;
  int same_company = 0;

  PredictionAgreement judge(std::span<const KernelLaunch> kernels, const BlockPlaces& seen) {
    const PredictionAgreement found = agreement(predicted_places(gpu, rule, kernels), seen);
    exact += found.exact ? 1 : 0;
    same_multiprocessors += found.same_multiprocessors ? 1 : 0;
    same_company += found.same_company ? 1 : 0;
    return found;
  }
};

class ProbeMeasurement {
 public:
  explicit ProbeMeasurement(StudyRecord& record) : record_(record), gpu_(present_gpu()) {}

  void cases() {
    for (const SchedulingCase& scheduling : scheduling_cases(gpu_)) {
      stop_if_requested();
      record_.show_status(fmt::format("case {}", scheduling.number));
      const std::string seen = described_places(
          scheduling, probe_.run(scheduling.kernels, scheduling.ended), gpu_.multiprocessors);
      add_case(scheduling, seen);
      if (scheduling.number == "3" && seen == "waits") {
        record_.say(
            "  by the model, a small kernel that starts first on another stream fixes the\n"
            "  carve-out of every cluster it touches; to give it that of the large kernel\n"
            "  (cudaFuncAttributePreferredSharedMemoryCarveout), or to start the large one first,\n"
            "  should help\n");
      }
    }
  }

  void sequences() {
    const std::optional<GpuModel> calibrated = calibrate();
    std::vector<Predictor> predictors = {{kInTurn, PlacementRule::in_turn, gpu_},
                                         {kMaxRoom, PlacementRule::max_room, gpu_},
                                         {kAlgorithm, PlacementRule::algorithm_1, gpu_}};
    if (calibrated) {
      predictors.push_back({kCalibrated, PlacementRule::algorithm_1, *calibrated});
    }
    const int count = static_cast<int>(record_.options().own.number("sequences"));
    std::mt19937_64 random(record_.options().seed);
    std::vector<Mismatch> mismatches;
    for (int sequence = 0; sequence < count; ++sequence) {
      stop_if_requested();
      record_.show_status(fmt::format("sequence {} of {}", sequence + 1, count));
      const std::vector<KernelLaunch> kernels = random_sequence(
          gpu_, BlockProbe::registers(), probe_.max_shared_bytes(), kMaxKernels, random);
      const BlockPlaces seen = probe_.run(kernels);
      PredictionAgreement last;
      for (Predictor& predictor : predictors) last = predictor.judge(kernels, seen);
      if (!last.exact && mismatches.size() < kMaxCutDown) {
        mismatches.push_back(cut_down_mismatch(predictors.back(), kernels));
      }
    }
    for (const Predictor& predictor : predictors) add_predictor(predictor, count);
    if (!calibrated) add_uncalibrated();
    keep(calibrated.value_or(gpu_), mismatches);
  }

  /// Whether each kernel has the registers that it is called by.
  void check_registers() {
    std::vector<std::string> others;
    for (const int registers : BlockProbe::registers()) {
      const int compiled = probe_.compiled_registers(registers);
      if (compiled != registers)
        others.push_back(fmt::format("{} instead of {}", compiled, registers));
    }
    record_.say("registers of the {} kernels: {}\n", BlockProbe::registers().size(),
                others.empty() ? "as asked for" : fmt::format("{}", fmt::join(others, ", ")));
  }

 private:
  void add_case(const SchedulingCase& scheduling, const std::string& seen) {
    record_.add({.variant = kProbe,
                 .part = kCasesPart,
                 .parameters = case_parameters(scheduling.number, gpu_.name),
                 .metrics = cells_in(record_.table().layout().metrics,
                                     {{"predicted", seen},
                                      {"document", std::string(scheduling.result)},
                                      {"kernels", kernels_text(scheduling.kernels)}})});
  }

  /// The model with the sequence of equals that the GPU has; nothing where that is not to be seen.
  std::optional<GpuModel> calibrate() {
    GpuModel calibrated = gpu_;
    calibrated.order = probe_.tie_order();
    std::vector<int> sorted = calibrated.order;
    std::sort(sorted.begin(), sorted.end());
    for (int number = 0; number < gpu_.multiprocessors; ++number) {
      if (sorted[static_cast<std::size_t>(number)] != number) return std::nullopt;
    }
    record_.say("equal multiprocessors are taken in the sequence {}, ...\n",
                fmt::join(calibrated.order.begin(),
                          calibrated.order.begin() + std::min(16, gpu_.multiprocessors), " "));
    return calibrated;
  }

  Mismatch cut_down_mismatch(const Predictor& predictor, const std::vector<KernelLaunch>& kernels) {
    Mismatch mismatch;
    const auto differs = [&](std::span<const KernelLaunch> shorter) {
      return predicted_places(predictor.gpu, predictor.rule, shorter) != probe_.run(shorter);
    };
    mismatch.kernels = cut_down(kernels, differs);
    mismatch.predicted = predicted_places(predictor.gpu, predictor.rule, mismatch.kernels);
    mismatch.seen = probe_.run(mismatch.kernels);
    return mismatch;
  }

  void add_predictor(const Predictor& predictor, int count) {
    const auto percent = [count](int right) { return 100.0 * right / count; };
    record_.add(
        {.variant = kSequences,
         .part = kSequencesPart,
         .parameters = predictor_parameters(predictor.name),
         .metrics = cells_in(record_.table().layout().metrics,
                             {{"sequences", static_cast<double>(count)},
                              {"exact_percent", percent(predictor.exact)},
                              {"multiprocessors_percent", percent(predictor.same_multiprocessors)},
                              {"company_percent", percent(predictor.same_company)}})});
  }

  void add_uncalibrated() {
    record_.add({.variant = kSequences,
                 .part = kSequencesPart,
                 .parameters = predictor_parameters(kCalibrated),
                 .not_measured = "blocks that fill a multiprocessor each did not start on all"});
  }

  void keep(const GpuModel& gpu, const std::vector<Mismatch>& mismatches) {
    const std::string& file = record_.options().own.text("mismatches");
    record_.say("{} mismatches were cut down to the fewest kernels{}\n", mismatches.size(),
                file.empty() ? "; --mismatches FILE keeps them" : ", in " + file);
    if (file.empty()) return;
    write_text_file(file,
                    mismatch_json(gpu, record_.machine(), record_.options().seed, mismatches));
  }

  StudyRecord& record_;
  GpuModel gpu_;
  BlockProbe probe_;
};

}  // namespace

void measure_probe(StudyRecord& record) {
  record.say(
      "\nprobe: kernels that hold their multiprocessors until they are told to end, each started "
      "once the\nblocks of the one before it run or wait; sequences: random kernels up to the "
      "first that Algorithm\n1 says must wait; exact: each block where it was predicted, SM-exact: "
      "each kernel on the same\nmultiprocessors as often, co-run-exact: as many blocks of each "
      "kernel beside the others\n");
  ProbeMeasurement measurement(record);
  measurement.check_registers();
  if (record.options().selects(kProbe)) measurement.cases();
  if (record.options().selects(kSequences)) measurement.sequences();
}

}  // namespace tessera
