// These tests predict, compare and cut down sequences of kernels without a GPU.
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "src/studies/block_scheduling/kernel_sequences.hpp"
#include "src/studies/block_scheduling/scheduling_columns.hpp"
#include "tests/src/studies/made_up.hpp"

namespace tessera::testing {
namespace {

const std::vector<int> kRegisters = {24, 64, 96, 128, 248, 255};
constexpr int kMaxShared = 227 * 1024;

TEST(RandomSequence, EndsWithTheFirstKernelThatWaits) {
  const GpuModel& gpu = compute_capability_90();
  std::mt19937_64 random(7);
  for (int sequence = 0; sequence < 20; ++sequence) {
    const std::vector<KernelLaunch> kernels =
        random_sequence(gpu, kRegisters, kMaxShared, 12, random);
    ASSERT_FALSE(kernels.empty());
    ASSERT_LE(kernels.size(), 12U);
    BlockScheduler scheduler(gpu);
    for (std::size_t kernel = 0; kernel < kernels.size(); ++kernel) {
      EXPECT_LE(kernels[kernel].threads * kernels[kernel].registers, 65536);
      const int number = scheduler.launch(kernels[kernel]);
      const bool is_last = kernel + 1 == kernels.size();
      EXPECT_TRUE(!scheduler.waits(number) || is_last);
    }
  }
  std::mt19937_64 first(3);
  std::mt19937_64 second(3);
  EXPECT_EQ(random_sequence(gpu, kRegisters, kMaxShared, 12, first),
            random_sequence(gpu, kRegisters, kMaxShared, 12, second));
}

TEST(PredictedPlaces, FollowTheRule) {
  const GpuModel& gpu = compute_capability_90();
  const std::vector<KernelLaunch> kernels = {{.blocks = 2, .threads = 512, .registers = 32},
                                             {.blocks = 3, .threads = 32, .registers = 32}};
  EXPECT_EQ(predicted_places(gpu, PlacementRule::in_turn, kernels),
            (BlockPlaces{{0, 2}, {4, 6, 8}}));
  EXPECT_EQ(predicted_places(gpu, PlacementRule::max_room, kernels),
            (BlockPlaces{{0, 2}, {4, 6, 8}}));
  GpuModel reversed = gpu;
  for (int number = gpu.multiprocessors - 1; number >= 0; --number) {
    reversed.order.push_back(number);
  }
  EXPECT_EQ(predicted_places(reversed, PlacementRule::in_turn, kernels),
            (BlockPlaces{{131, 130}, {129, 128, 127}}));
  EXPECT_EQ(predicted_places(reversed, PlacementRule::algorithm_1, kernels).front(),
            (std::vector<int>{131, 130}));
}

// Blocks of 40 KiB between which there is a gap of 30 each: only the sum has room.
TEST(PredictedPlaces, SimpleRulesKnowNoGaps) {
  GpuModel one = compute_capability_90();
  one.multiprocessors = 2;
  std::vector<KernelLaunch> kernels(
      8, {.blocks = 2, .threads = 32, .registers = 32, .shared_bytes = 27 * 1024});
  kernels.push_back({.blocks = 2, .threads = 32, .registers = 32, .shared_bytes = 64 * 1024});
  const std::vector<int> ended = {1, 3, 5, 7};
  const auto waits = [&](PlacementRule rule) {
    const std::vector<int> last = predicted_places(one, rule, kernels, ended).back();
    return std::find(last.begin(), last.end(), kNotStarted) != last.end();
  };
  EXPECT_TRUE(waits(PlacementRule::algorithm_1));
  EXPECT_FALSE(waits(PlacementRule::max_room));
  EXPECT_FALSE(waits(PlacementRule::in_turn));
}

TEST(Agreement, TellsHowFarAPredictionIsRight) {
  const BlockPlaces seen = {{0, 2}, {1, kNotStarted}};
  EXPECT_TRUE(agreement(seen, seen).exact);
  const PredictionAgreement permuted = agreement({{2, 0}, {1, kNotStarted}}, seen);
  EXPECT_FALSE(permuted.exact);
  EXPECT_TRUE(permuted.same_multiprocessors);
  EXPECT_TRUE(permuted.same_company);
  const PredictionAgreement elsewhere = agreement({{2, 4}, {1, kNotStarted}}, seen);
  EXPECT_FALSE(elsewhere.same_multiprocessors);
  EXPECT_TRUE(elsewhere.same_company);
  EXPECT_FALSE(agreement({{0, 2}, {1, 3}}, seen).same_company);
}

TEST(CutDown, KeepsTheKernelsThatAMistakeNeeds) {
  std::vector<KernelLaunch> kernels(6, {.blocks = 1, .threads = 32, .registers = 24});
  kernels[2].blocks = 77;
  kernels[5].registers = 255;
  const auto is_mistaken = [](std::span<const KernelLaunch> left) {
    const auto has = [&](auto&& wanted) { return std::any_of(left.begin(), left.end(), wanted); };
    return has([](const KernelLaunch& kernel) { return kernel.blocks == 77; }) &&
           has([](const KernelLaunch& kernel) { return kernel.registers == 255; });
  };
  EXPECT_EQ(cut_down(kernels, is_mistaken), (std::vector<KernelLaunch>{kernels[2], kernels[5]}));
  const auto never = [](std::span<const KernelLaunch>) { return false; };
  EXPECT_EQ(cut_down(kernels, never), kernels);
}

TEST(MismatchJson, HoldsKernelsAndWhereTheyWere) {
  GpuModel gpu = compute_capability_90();
  gpu.order = {1, 0};
  const auto json = nlohmann::json::parse(
      mismatch_json(gpu, "a GPU", 5,
                    {{.kernels = {{.blocks = 1, .threads = 64, .registers = 24}},
                      .predicted = {{0}},
                      .seen = {{1}}}}));
  EXPECT_EQ(json["seed"], 5);
  EXPECT_EQ(json["mismatches"][0][0]["threads"], 64);
  EXPECT_EQ(json["mismatches"][0][0]["predicted"][0], 0);
  EXPECT_EQ(json["mismatches"][0][0]["seen"][0], 1);
}

StudyTable sequences(double in_turn, double calibrated) {
  const StudyLayout layout = scheduling_layout();
  StudyTable table(layout);
  const auto add = [&](const char* predictor, double percent) {
    table.add({.variant = kSequences,
               .part = kSequencesPart,
               .parameters = predictor_parameters(predictor),
               .metrics = cells_in(layout.metrics, {{"exact_percent", percent}})});
  };
  add(kInTurn, in_turn);
  add(kCalibrated, calibrated);
  return table;
}

TEST(SchedulingClaims, JudgePredictors) {
  const auto of = [](const char* claim, const StudyTable& table) {
    return verdict("block-scheduling", claim, table);
  };
  EXPECT_EQ(of("B10", sequences(3.0, 100.0)), "holds");
  EXPECT_EQ(of("B10", sequences(3.0, 99.5)), "does not hold");
  EXPECT_EQ(of("B11", sequences(3.0, 99.5)), "holds");
  EXPECT_EQ(of("B11", sequences(40.0, 40.0)), "does not hold");
  const StudyTable none(scheduling_layout());
  EXPECT_EQ(of("B10", none), "not measured: needs a GPU, and the variant sequences");
  EXPECT_TRUE(of("B11", none).starts_with("not measured: "));
}

}  // namespace
}  // namespace tessera::testing
