// These tests run the kernels of the studies block-scheduling and finishing-time on the GPU.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <stdexcept>

#include "src/studies/block_scheduling/block_probe.hpp"
#include "src/studies/finishing_time/gpu_bounds.hpp"
#include "src/studies/finishing_time/warp_programs.hpp"
#include "tests/device_test.hpp"

namespace tessera::testing {
namespace {

TEST(BlockProbe, KernelsHaveTheRegistersThatTheyAreCalledBy) {
  TESSERA_REQUIRE_DEVICE();
  const BlockProbe probe;
  for (const int registers : BlockProbe::registers()) {
    EXPECT_EQ(probe.compiled_registers(registers), registers);
  }
  EXPECT_THROW((void)probe.compiled_registers(25), std::invalid_argument);
}

TEST(BlockProbe, SeesBlocksThatRunAndBlocksThatWait) {
  TESSERA_REQUIRE_DEVICE();
  BlockProbe probe;
  const GpuModel gpu = present_gpu();
  const std::vector<int> order = probe.tie_order();
  std::vector<int> sorted = order;
  std::sort(sorted.begin(), sorted.end());
  std::vector<int> all(static_cast<std::size_t>(gpu.multiprocessors));
  std::iota(all.begin(), all.end(), 0);
  EXPECT_EQ(sorted, all);
  // Each block takes all registers of a multiprocessor, so that a second kernel waits.
  const std::vector<KernelLaunch> full(
      2, {.blocks = gpu.multiprocessors, .threads = 256, .registers = 255});
  const BlockPlaces places = probe.run(full);
  EXPECT_EQ(std::count(places[0].begin(), places[0].end(), kNotStarted), 0);
  EXPECT_EQ(std::count(places[1].begin(), places[1].end(), kNotStarted), gpu.multiprocessors);
  // Unless the first ends.
  const std::vector<int> first = {0};
  const BlockPlaces after = probe.run(full, first);
  EXPECT_EQ(std::count(after[1].begin(), after[1].end(), kNotStarted), 0);
}

TEST(BlockProbe, ManyStreamsRunSideBySide) {
  TESSERA_REQUIRE_DEVICE();
  BlockProbe probe;
  const std::vector<KernelLaunch> small(4, {.blocks = 1, .threads = 32, .registers = 24});
  for (const std::vector<int>& places : probe.run(small)) EXPECT_NE(places.front(), kNotStarted);
}

TEST(WarpPrograms, MoreWarpsTakeLonger) {
  TESSERA_REQUIRE_DEVICE();
  WarpPrograms programs;
  for (const ProgramMemory memory :
       {ProgramMemory::shared, ProgramMemory::l1, ProgramMemory::l2, ProgramMemory::dram}) {
    const auto least = [&](WarpWork work, int warps) {
      const std::vector<double> cycles =
          programs.cycles({.work = work, .memory = memory, .repetitions = 4, .warps = warps}, 5);
      EXPECT_EQ(cycles.size(), 5U);
      return *std::min_element(cycles.begin(), cycles.end());
    };
    EXPECT_GT(least(WarpWork::program, 1), 10.0);
    EXPECT_GT(least(WarpWork::program, 32), least(WarpWork::program, 1));
    EXPECT_GT(least(WarpWork::loads, 32), 1.5 * least(WarpWork::loads, 8));
    // Two blocks start together: they take what twice the work takes, and no pause between them.
    EXPECT_GT(least(WarpWork::program, 64), 1.3 * least(WarpWork::program, 32));
    EXPECT_LT(least(WarpWork::program, 64), 3 * least(WarpWork::program, 32));
  }
  EXPECT_THROW((void)programs.cycles({.repetitions = 3}, 1), std::invalid_argument);
  EXPECT_THROW((void)programs.cycles({.warps = 33}, 1), std::invalid_argument);
  EXPECT_THROW((void)WarpPrograms::holds({.warps = 65}), std::invalid_argument);
}

TEST(WarpPrograms, RegistersBoundTheWarps) {
  TESSERA_REQUIRE_DEVICE();
  for (const int repetitions : program_repetitions()) {
    EXPECT_TRUE(WarpPrograms::holds({.repetitions = repetitions, .warps = 32}));
    EXPECT_TRUE(WarpPrograms::holds({.repetitions = repetitions, .warps = 64}));
  }
}

TEST(WaitingBlocks, KeepGrahamsBound) {
  TESSERA_REQUIRE_DEVICE();
  WarpPrograms programs;
  std::vector<std::uint64_t> wanted(5000);
  for (std::size_t block = 0; block < wanted.size(); ++block) {
    wanted[block] = 20'000 + block % 7 * 50'000;
  }
  const TimedBlocks blocks = programs.waiting_blocks(wanted);
  ASSERT_EQ(blocks.seconds.size(), wanted.size());
  for (std::size_t block = 0; block < wanted.size(); ++block) {
    EXPECT_GE(blocks.seconds[block], 1e-9 * static_cast<double>(wanted[block]));
  }
  EXPECT_GE(blocks.all, *std::max_element(blocks.seconds.begin(), blocks.seconds.end()));
  EXPECT_GT(blocks.slots, 0);
  // A tenth more, since a slot that is free takes some time to be taken.
  EXPECT_LE(blocks.all, 1.1 * graham_bound(blocks.seconds, static_cast<double>(blocks.slots)));
}

}  // namespace
}  // namespace tessera::testing
