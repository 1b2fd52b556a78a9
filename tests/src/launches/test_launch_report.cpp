// These tests compute waves, bounds and limits of kernels that nobody launched.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "src/launches/launch_report.hpp"

namespace tessera::testing {
namespace {

using ::testing::HasSubstr;

/// Of compute capability 9.0.
constexpr MultiprocessorLimits kHopper = {.blocks = 32,
                                          .warps = 64,
                                          .registers = 65536,
                                          .shared_bytes = 228 * 1024,
                                          .reserved_shared_bytes = 1024};

LaunchRecord made_up(std::int64_t blocks) {
  return {.kernel = "sum",
          .full_name = "tessera::sum<double>(double*)",
          .grid = {blocks, 1, 1},
          .resources = {.threads = 128, .registers = 40},
          .blocks_per_multiprocessor = 2,
          .foreseen = {.blocks = 2, .limit = OccupancyLimit::registers},
          .multiprocessors = 10,
          .seconds = 1e-3,
          .wave_blocks = 20,
          .wave_seconds = 4e-4};
}

TEST(LaunchRecord, HasWavesAndWhatTheLastOneIdles) {
  EXPECT_EQ(made_up(20).slots(), 20);
  EXPECT_DOUBLE_EQ(made_up(20).waves(), 1.0);
  EXPECT_DOUBLE_EQ(made_up(20).last_fill(), 1.0);
  EXPECT_DOUBLE_EQ(made_up(20).idle(), 0.0);
  EXPECT_DOUBLE_EQ(made_up(45).waves(), 2.25);
  EXPECT_DOUBLE_EQ(made_up(45).last_fill(), 0.25);
  EXPECT_DOUBLE_EQ(made_up(45).idle(), 0.25);
  EXPECT_DOUBLE_EQ(made_up(1).idle(), 0.95);
}

TEST(LaunchRecord, TakesAtMostItsWavesOneAfterAnother) {
  EXPECT_DOUBLE_EQ(made_up(20).upper_seconds(), 4e-4);
  EXPECT_DOUBLE_EQ(made_up(41).upper_seconds(), 12e-4);
  // A grid that cannot be cut to a whole wave.
  LaunchRecord record = made_up(41);
  record.wave_blocks = 7;
  EXPECT_DOUBLE_EQ(record.upper_seconds(), 6 * 4e-4);
}

TEST(FirstBlocks, AreTheLargestPartOfAGridThatFits) {
  EXPECT_EQ(first_blocks({100, 1, 1}, 30), (LaunchGrid{30, 1, 1}));
  EXPECT_EQ(first_blocks({100, 1, 1}, 300), (LaunchGrid{100, 1, 1}));
  EXPECT_EQ(first_blocks({10, 7, 3}, 45), (LaunchGrid{10, 4, 1}));
  EXPECT_EQ(first_blocks({10, 7, 3}, 145), (LaunchGrid{10, 7, 2}));
  EXPECT_EQ(first_blocks({10, 7, 3}, 9), (LaunchGrid{9, 1, 1}));
  EXPECT_EQ(first_blocks({10, 7, 3}, 1000), (LaunchGrid{10, 7, 3}));
  for (const LaunchGrid& grid : {LaunchGrid{13, 5, 2}, LaunchGrid{1, 130, 1}}) {
    for (std::int64_t most = 1; most < 140; ++most) {
      const std::int64_t blocks = block_count(first_blocks(grid, most));
      EXPECT_GE(blocks, 1);
      EXPECT_LE(blocks, most);
      EXPECT_GT(2 * blocks, std::min(most, block_count(grid)));
    }
  }
}

TEST(Occupancy, IsTheLeastOfWhatABlockTakes) {
  const auto of = [](int threads, int registers, int shared) {
    return occupancy(kHopper, {.threads = threads, .registers = registers, .shared_bytes = shared});
  };
  EXPECT_EQ(of(32, 16, 0), (Occupancy{32, OccupancyLimit::blocks}));
  EXPECT_EQ(of(256, 32, 0), (Occupancy{8, OccupancyLimit::warps}));
  // 255 registers: 8 warps by four parts.
  EXPECT_EQ(of(128, 255, 0), (Occupancy{2, OccupancyLimit::registers}));
  EXPECT_EQ(of(96, 255, 0), (Occupancy{2, OccupancyLimit::registers}));
  EXPECT_EQ(of(64, 32, 40 * 1024), (Occupancy{5, OccupancyLimit::shared_memory}));
  EXPECT_EQ(of(64, 32, 227 * 1024), (Occupancy{1, OccupancyLimit::shared_memory}));
  EXPECT_EQ(of(1024, 128, 0), (Occupancy{0, OccupancyLimit::registers}));
}

TEST(LaunchReport, SharesTheLeastTrafficAmongLaunchesOfOneKernel) {
  LaunchReport report{.work = "apply", .seconds = 4e-3, .min_bytes = 6e6};
  report.launches = {made_up(20), made_up(40)};
  report.launches.front().count = 2;
  EXPECT_DOUBLE_EQ(report.share(report.launches.front()), 0.5);
  EXPECT_DOUBLE_EQ(report.lower_seconds(1e9), 6e-3);
  EXPECT_DOUBLE_EQ(report.lower_seconds(report.launches.front(), 1e9), 1.5e-3);
  EXPECT_DOUBLE_EQ(report.lower_seconds(report.launches.back(), 1e9), 3e-3);
  EXPECT_EQ(report.lower_seconds(0.0), 0.0);
  // What each of several kernels moves is not known.
  report.launches.back().full_name = "another";
  EXPECT_EQ(report.lower_seconds(report.launches.back(), 1e9), 0.0);
}

TEST(ShortKernelName, LeavesOutNamespacesTemplatesAndParameters) {
  EXPECT_EQ(short_kernel_name("void tessera::(anonymous namespace)::tensor_cells<3, double, "
                              "tessera::Box<2> >(tessera::View<double>, double*)"),
            "tensor_cells");
  EXPECT_EQ(short_kernel_name("tessera::add(int)"), "add");
  EXPECT_EQ(short_kernel_name("_Z5plain"), "_Z5plain");
  EXPECT_EQ(short_kernel_name("void cub::A<int>::kernel<float>(float*)"), "kernel");
  EXPECT_EQ(short_kernel_name("void csr::mv<(bool)0, (int)1>(csr::P<(int)3>)"), "mv");
}

TEST(LaunchTexts, HoldWhatWasMeasuredAndWhatWasNot) {
  LaunchReport measured{.work = "apply", .seconds = 2e-3, .min_bytes = 1e6};
  measured.launches = {made_up(45)};
  const LaunchReport failed{.work = "multigrid cycle", .not_measured = "out of memory"};
  const std::vector<LaunchReport> reports = {measured, failed};
  EXPECT_EQ(launch_table({}, 1e9), "");
  const std::string table = launch_table(reports, 1e9);
  EXPECT_THAT(table, HasSubstr("apply: 1 kernel, 2.00 ms, at least 1.00 ms for its least traffic"));
  EXPECT_THAT(table, HasSubstr("registers"));
  EXPECT_THAT(table, HasSubstr("2.25"));
  EXPECT_THAT(table, HasSubstr("25.0%"));
  EXPECT_THAT(table, HasSubstr("multigrid cycle: launches not measured: out of memory"));
  for (const LaunchReport& report : reports) {
    for (const auto& row : launch_rows(report, 1e9)) {
      EXPECT_EQ(row.size(), launch_columns().size());
    }
  }
  EXPECT_THAT(launch_csv(reports, 1e9),
              HasSubstr("\napply,sum,1,45,1,1,128,40,0,0,2,registers,20"));
  EXPECT_THAT(launch_csv(reports, 1e9), HasSubstr("not measured: out of memory"));
  const nlohmann::ordered_json json = launch_json(reports, 0.0);
  ASSERT_EQ(json.size(), 2U);
  EXPECT_TRUE(json[0]["lower_s"].is_null());
  EXPECT_DOUBLE_EQ(json[0]["kernels"][0]["waves"].get<double>(), 2.25);
  EXPECT_DOUBLE_EQ(json[0]["kernels"][0]["upper_s"].get<double>(), 3 * 4e-4);
  EXPECT_EQ(json[1]["not_measured"], "out of memory");
}

}  // namespace
}  // namespace tessera::testing
