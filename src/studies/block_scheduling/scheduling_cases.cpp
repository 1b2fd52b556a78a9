#include "src/studies/block_scheduling/scheduling_cases.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace tessera {
namespace {

constexpr int kKibibyte = 1024;

/// The shared memory of blocks, in KiB, that makes a case tell what it is to tell.
struct SharedSizes {
  int large;    ///< of K1 in case 1.4
  int small;    ///< of K2 and K3 in case 1.4
  int eighth;   ///< of K1 to K8 in case 4.2
  int several;  ///< of K9 in case 4.2: more than a gap, less than all gaps
};

SharedSizes shared_sizes(const GpuModel& gpu) {
  // 48 and 24 KiB would need different carve-outs where there are 228 KiB.
  if (gpu.carve_outs.back() >= 228) return {.large = 112, .small = 56, .eighth = 27, .several = 64};
  return {.large = 48, .small = 24, .eighth = 10, .several = 40};
}

/// Eight kernels like `each`, and a last one.
std::vector<KernelLaunch> eight_and(const KernelLaunch& each, const KernelLaunch& last) {
  std::vector<KernelLaunch> kernels(8, each);
  kernels.push_back(last);
  return kernels;
}

/// The number is odd in the document, which counts from 1.
std::vector<int> every_second(int kernels) {
  std::vector<int> numbers;
  for (int kernel = 1; kernel < kernels; kernel += 2) numbers.push_back(kernel);
  return numbers;
}

std::string described(const BlockScheduler& scheduler, int kernel, int multiprocessors) {
  if (scheduler.waits(kernel)) return "waits";
  std::vector<int> places = scheduler.places(kernel);
  if (places.size() == 1) return fmt::format("SM {}", places.front());
  std::sort(places.begin(), places.end());
  const auto is_every = [&](int first, int step) {
    int expected = first;
    for (const int place : places) {
      if (place != expected) return false;
      expected += step;
    }
    return expected >= multiprocessors;
  };
  if (is_every(0, 1)) return "all";
  if (is_every(0, 2)) return "even";
  if (is_every(1, 2)) return "odd";
  return fmt::format("SM {}", fmt::join(places, " "));
}

}  // namespace

std::vector<SchedulingCase> scheduling_cases(const GpuModel& gpu) {
  const int all = gpu.multiprocessors;
  const int half = all / 2;
  const SharedSizes shared = shared_sizes(gpu);
  const auto with_shared = [](KernelLaunch kernel, int kibibytes) {
    kernel.shared_bytes = kibibytes * kKibibyte;
    return kernel;
  };
  const KernelLaunch usual{.blocks = half, .threads = 256, .registers = 32};
  const KernelLaunch single{.blocks = 1, .threads = 256, .registers = 32};
  return {
      {.number = "1.1",
       .shows = "equals: even multiprocessors first",
       .kernels = {usual, usual, single},
       .ended = {},
       .result = "even, odd, SM 0"},
      {.number = "1.2",
       .shows = "most room by warps",
       .kernels = {{.blocks = half, .threads = 512, .registers = 32}, usual, single},
       .ended = {},
       .result = "even, odd, SM 1"},
      {.number = "1.3",
       .shows = "most room by registers",
       .kernels = {{.blocks = half, .threads = 256, .registers = 128},
                   {.blocks = half, .threads = 256, .registers = 64},
                   {.blocks = 1, .threads = 256, .registers = 64}},
       .ended = {},
       .result = "even, odd, SM 1"},
      {.number = "1.4",
       .shows = "most room by shared memory",
       .kernels = {with_shared(usual, shared.large), with_shared(usual, shared.small),
                   with_shared(single, shared.small)},
       .ended = {},
       .result = "even, odd, SM 1"},
      {.number = "2.1",
       .shows = "warps go to sub-partitions strictly in turn",
       .kernels = {{.blocks = all, .threads = 64, .registers = 255},
                   {.blocks = all, .threads = 64, .registers = 255},
                   {.blocks = all, .threads = 64, .registers = 255},
                   {.blocks = all, .threads = 64, .registers = 255},
                   {.blocks = all, .threads = 128, .registers = 255}},
       .ended = every_second(4),
       .result = "waits"},
      {.number = "2.2",
       .shows = "one turn more after a multiple of four warps",
       .kernels = {{.blocks = all, .threads = 32, .registers = 255},
                   {.blocks = all, .threads = 128, .registers = 255},
                   {.blocks = all, .threads = 96, .registers = 255}},
       .ended = {},
       .result = "all, all, waits"},
      {.number = "3",
       .shows = "a busy cluster keeps its carve-out",
       .kernels = {{.blocks = half, .threads = 1, .registers = 32},
                   {.blocks = 1, .threads = 1, .registers = 32, .shared_bytes = kKibibyte}},
       .ended = {},
       .result = "waits"},
      {.number = "4.1",
       .shows = "registers need not be contiguous",
       .kernels = eight_and({.blocks = all, .threads = 128, .registers = 64},
                            {.blocks = all, .threads = 128, .registers = 255}),
       .ended = every_second(8),
       .result = "all"},
      {.number = "4.2",
       .shows = "shared memory must be contiguous",
       .kernels =
           eight_and(with_shared({.blocks = all, .threads = 32, .registers = 32}, shared.eighth),
                     with_shared({.blocks = all, .threads = 32, .registers = 32}, shared.several)),
       .ended = every_second(8),
       .result = "waits"},
  };
}

std::string predicted_result(const GpuModel& gpu, const SchedulingCase& scheduling) {
  BlockScheduler scheduler(gpu);
  const int last = static_cast<int>(scheduling.kernels.size()) - 1;
  for (int kernel = 0; kernel < last; ++kernel) scheduler.launch(scheduling.kernels[kernel]);
  for (const int kernel : scheduling.ended) scheduler.finish(kernel);
  scheduler.launch(scheduling.kernels[last]);
  if (last != 2) return described(scheduler, last, gpu.multiprocessors);
  return fmt::format("{}, {}, {}", described(scheduler, 0, gpu.multiprocessors),
                     described(scheduler, 1, gpu.multiprocessors),
                     described(scheduler, 2, gpu.multiprocessors));
}

}  // namespace tessera
