// These tests compare the predicted places of blocks with those that the document measured.
#include <gtest/gtest.h>

#include <algorithm>
#include <span>
#include <stdexcept>
#include <string_view>
#include <vector>

#include "src/studies/block_scheduling/block_scheduler.hpp"
#include "src/studies/block_scheduling/scheduling_cases.hpp"
#include "src/studies/block_scheduling/scheduling_columns.hpp"
#include "tests/src/studies/made_up.hpp"

namespace tessera::testing {
namespace {

constexpr int kKibibyte = 1024;

const GpuModel& gpu_of(int number) { return number == 0 ? rtx_3090() : compute_capability_90(); }

SchedulingCase case_of(const GpuModel& gpu, std::string_view number) {
  const std::vector<SchedulingCase> cases = scheduling_cases(gpu);
  return *std::find_if(cases.begin(), cases.end(),
                       [&](const SchedulingCase& each) { return each.number == number; });
}

class OnGpus : public ::testing::TestWithParam<int> {
 protected:
  const GpuModel& gpu() const { return gpu_of(GetParam()); }
};

INSTANTIATE_TEST_SUITE_P(BlockScheduling, OnGpus, ::testing::Values(0, 1));

TEST_P(OnGpus, AllNineCasesEndAsInTheDocument) {
  const std::vector<SchedulingCase> cases = scheduling_cases(gpu());
  ASSERT_EQ(cases.size(), 9U);
  for (const SchedulingCase& each : cases) {
    EXPECT_EQ(predicted_result(gpu(), each), each.result) << gpu().name << " case " << each.number;
  }
}

TEST_P(OnGpus, TwoWarpsInsteadOfThreeRunInCase22) {
  SchedulingCase changed = case_of(gpu(), "2.2");
  changed.kernels[2].threads = 64;
  EXPECT_EQ(predicted_result(gpu(), changed), "all, all, all");
}

TEST_P(OnGpus, WithoutTheSharedMemoryCase3Runs) {
  SchedulingCase changed = case_of(gpu(), "3");
  changed.kernels[1].shared_bytes = 0;
  EXPECT_EQ(predicted_result(gpu(), changed), "SM 1");
}

TEST_P(OnGpus, AGapThatFitsIsTakenInCase42) {
  SchedulingCase changed = case_of(gpu(), "4.2");
  changed.kernels[8].shared_bytes = changed.kernels[0].shared_bytes;
  EXPECT_NE(predicted_result(gpu(), changed), "waits");
}

// The occupancy of a multiprocessor is what a launch with too many blocks starts on each.
TEST_P(OnGpus, AFullGpuHasTheBlocksThatOccupancyAllows) {
  const int warps = 4 * gpu().warps;
  struct Row {
    KernelLaunch kernel;
    int blocks;
  };
  for (const Row& row :
       {Row{{.blocks = 1, .threads = 32, .registers = 16}, gpu().blocks},
        Row{{.blocks = 1, .threads = 256, .registers = 32}, warps / 8},
        Row{{.blocks = 1, .threads = 128, .registers = 255}, 2},
        Row{{.blocks = 1, .threads = 64, .registers = 32, .shared_bytes = 40 * kKibibyte},
            gpu().carve_outs.back() / 41}}) {
    KernelLaunch kernel = row.kernel;
    kernel.blocks = gpu().multiprocessors * (row.blocks + 1);
    BlockScheduler scheduler(gpu());
    const int number = scheduler.launch(kernel);
    EXPECT_TRUE(scheduler.waits(number));
    std::vector<int> on_each(gpu().multiprocessors, 0);
    for (const int place : scheduler.places(number)) ++on_each[place];
    EXPECT_EQ(on_each, std::vector<int>(gpu().multiprocessors, row.blocks));
  }
}

TEST_P(OnGpus, NoKernelOvertakesOneThatWaits) {
  BlockScheduler scheduler(gpu());
  const KernelLaunch whole{.blocks = gpu().multiprocessors, .threads = 1024, .registers = 64};
  const int first = scheduler.launch(whole);
  const int second = scheduler.launch(whole);
  const int small = scheduler.launch({.blocks = 1, .threads = 32, .registers = 16});
  EXPECT_FALSE(scheduler.waits(first));
  EXPECT_TRUE(scheduler.waits(second));
  EXPECT_TRUE(scheduler.waits(small));
  EXPECT_THROW(scheduler.finish(second), std::logic_error);
  scheduler.finish(first);
  EXPECT_FALSE(scheduler.waits(second));
  EXPECT_TRUE(scheduler.waits(small));
  scheduler.finish(second);
  EXPECT_FALSE(scheduler.waits(small));
}

TEST_P(OnGpus, MoreLocalMemoryWaitsForAnEmptyGpu) {
  BlockScheduler scheduler(gpu());
  KernelLaunch kernel{.blocks = 1, .threads = 32, .registers = 16, .local_bytes = 8};
  const int first = scheduler.launch(kernel);
  EXPECT_FALSE(scheduler.waits(scheduler.launch(kernel)));
  kernel.local_bytes = 16;
  const int more = scheduler.launch(kernel);
  EXPECT_TRUE(scheduler.waits(more));
  scheduler.finish(first);
  EXPECT_TRUE(scheduler.waits(more));
  scheduler.finish(first + 1);
  EXPECT_FALSE(scheduler.waits(more));
}

TEST_P(OnGpus, WhatNoMultiprocessorTakesIsRefused) {
  BlockScheduler scheduler(gpu());
  for (const KernelLaunch& kernel : {KernelLaunch{.blocks = 1, .threads = 1024, .registers = 128},
                                     KernelLaunch{.blocks = 1,
                                     .threads = 32,
                                     .registers = 32,
                                     .shared_bytes = gpu().carve_outs.back() * kKibibyte},
                                     KernelLaunch{.blocks = 0, .threads = 32, .registers = 32}}) {
    EXPECT_THROW(scheduler.launch(kernel), std::invalid_argument);
  }
}

TEST(BlockSchedulingStudy, JudgesAllCasesByBothModels) {
  const StudyInfo& study = find_study("block-scheduling");
  StudyRecord record(study, options_of("block-scheduling", {}), "a CPU", Verbosity::quiet);
  study.measure(record);
  EXPECT_EQ(record.table().rows().size(), 18U);
  ASSERT_EQ(study.claims.size(), 11U);
  // A row that says something else is no result of the document.
  StudyTable changed(study.layout);
  for (StudyRow row : record.table().rows()) {
    if (row.parameters.at(1) == "sm_90") row.metrics.front() = "SM 77";
    changed.add(row);
  }
  // The last two are about a GPU.
  for (const Claim& claim : std::span(study.claims).first(9)) {
    EXPECT_EQ(judge(claim, record.table()).text(), "holds") << claim.number;
    EXPECT_EQ(judge(claim, changed).text(), "does not hold") << claim.number;
  }
}

TEST(BlockSchedulingStudy, JudgesCasesByTheGpuThatIsProbed) {
  const StudyInfo& study = find_study("block-scheduling");
  StudyRecord record(study, options_of("block-scheduling", {}), "a CPU", Verbosity::quiet);
  study.measure(record);
  StudyTable probed = record.table();
  for (const SchedulingCase& each : scheduling_cases(compute_capability_90())) {
    const bool is_first = each.number == "1.1";
    probed.add(
        {.variant = kProbe,
         .part = kCasesPart,
         .parameters = case_parameters(each.number, "this GPU"),
         .metrics = cells_in(study.layout.metrics,
                             {{"predicted", is_first ? "SM 5" : std::string(each.result)}})});
  }
  EXPECT_EQ(judge(study.claims[0], probed).text(), "does not hold");
  EXPECT_EQ(judge(study.claims[1], probed).text(), "holds");
}

TEST(DescribedPlaces, SayWhatKernelsHave) {
  const SchedulingCase of_three = case_of(compute_capability_90(), "1.1");
  const auto text = [&](const std::vector<int>& places) {
    return described_places(of_three, {{0}, {1}, places}, 6);
  };
  EXPECT_EQ(text({0, 2, 4}), "SM 0, SM 1, even");
  EXPECT_EQ(text({5, 0, 2}), "SM 0, SM 1, one of each two");
  EXPECT_EQ(text({5, 4, 2}), "SM 0, SM 1, 3 SMs");
  EXPECT_EQ(text({5, kNotStarted}), "SM 0, SM 1, waits");
}

}  // namespace
}  // namespace tessera::testing
