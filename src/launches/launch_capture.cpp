// This file captures what a piece of work launches, and times it.
#include <algorithm>
#include <optional>

#include "solvers/memory/device.hpp"
#include "src/launches/launch_report.hpp"
#include "src/launches/launch_timer.hpp"

namespace tessera {
namespace {

MultiprocessorLimits multiprocessor_limits() {
  return {.blocks = device_attribute(cudaDevAttrMaxBlocksPerMultiprocessor),
          .warps = device_attribute(cudaDevAttrMaxThreadsPerMultiProcessor) /
                   device_attribute(cudaDevAttrWarpSize),
          .registers = device_attribute(cudaDevAttrMaxRegistersPerMultiprocessor),
          .shared_bytes = device_attribute(cudaDevAttrMaxSharedMemoryPerMultiprocessor),
          .reserved_shared_bytes = device_attribute(cudaDevAttrReservedSharedMemoryPerBlock)};
}

class Reporter {
 public:
  explicit Reporter(WaveStep step) : step_(step), timer_(driver_) {}

  void report(const CapturedGraph& graph, LaunchReport& report) {
    const CapturedKernels found = kernels_of(driver_, graph.get());
    report.other_nodes = found.other_nodes;
    report.seconds = timer_.seconds(graph);
    for (const CapturedKernel& kernel : found.kernels) {
      LaunchRecord launch = described(kernel);
      const auto alike = std::find_if(
          report.launches.begin(), report.launches.end(), [&](const LaunchRecord& each) {
            return each.full_name == launch.full_name && each.grid == launch.grid &&
                   each.resources == launch.resources;
          });
      if (alike != report.launches.end()) {
        ++alike->count;
        continue;
      }
      time(kernel, launch);
      report.launches.push_back(std::move(launch));
    }
  }

 private:
  LaunchRecord described(const CapturedKernel& kernel) const {
    LaunchRecord launch;
    launch.full_name = kernel_name(driver_, kernel);
    launch.kernel = short_kernel_name(launch.full_name);
    launch.grid = kernel.grid();
    const auto dynamic = kernel.params.sharedMemBytes;
    launch.resources = {
        .threads = kernel.threads(),
        .registers = attribute(driver_, kernel, CU_FUNC_ATTRIBUTE_NUM_REGS),
        .shared_bytes = attribute(driver_, kernel, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES) +
                        static_cast<int>(dynamic),
        .local_bytes = attribute(driver_, kernel, CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES)};
    check_driver(driver_.blocks_per_multiprocessor(&launch.blocks_per_multiprocessor,
                                                   kernel.function, kernel.threads(), dynamic),
                 "asking how many blocks a multiprocessor holds");
    // It was launched, so one fits.
    launch.blocks_per_multiprocessor = std::max(launch.blocks_per_multiprocessor, 1);
    launch.foreseen = occupancy(limits_, launch.resources);
    launch.multiprocessors = multiprocessors_;
    return launch;
  }

  void time(const CapturedKernel& kernel, LaunchRecord& launch) {
    launch.seconds = timer_.seconds(kernel, launch.grid);
    const LaunchGrid wave = first_blocks(launch.grid, launch.slots());
    launch.wave_blocks = block_count(wave);
    launch.wave_seconds = timer_.cold_seconds(kernel, wave);
    const bool is_line = launch.grid[0] == launch.blocks();
    if (step_ == WaveStep::leave || !is_line || launch.blocks() <= launch.slots()) return;
    constexpr std::int64_t kMaxWaves = 4;
    const std::int64_t waves =
        std::min<std::int64_t>(kMaxWaves, (launch.blocks() - 1) / launch.slots());
    const std::int64_t whole = waves * launch.slots();
    const double below = timer_.seconds(kernel, {whole, 1, 1});
    const double above = timer_.seconds(kernel, {whole + 1, 1, 1});
    launch.step = (above - below) / below * static_cast<double>(waves);
  }

  WaveStep step_;
  DriverCalls driver_;
  LaunchTimer timer_;
  MultiprocessorLimits limits_ = multiprocessor_limits();
  int multiprocessors_ = device_attribute(cudaDevAttrMultiProcessorCount);
};

}  // namespace

LaunchReport report_launches(const std::string& name, double min_bytes,
                             const std::function<void()>& work, WaveStep step) {
  LaunchReport report{.work = name, .min_bytes = min_bytes};
  try {
    // What is made at the first use cannot be captured.
    work();
    synchronize_device();
    const CapturedGraph graph = captured(work);
    Reporter(step).report(graph, report);
  } catch (const DeviceError& error) {
    report.not_measured = error.what();
    report.launches.clear();
  }
  return report;
}

}  // namespace tessera
