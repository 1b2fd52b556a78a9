#include "src/studies/block_scheduling/scheduling_cases.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

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

std::string described(std::vector<int> places, int multiprocessors) {
  if (std::find(places.begin(), places.end(), kNotStarted) != places.end()) return "waits";
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
  const std::set<int> different(places.begin(), places.end());
  std::set<int> clusters;
  for (const int place : places) clusters.insert(place / 2);
  const bool is_one_of_each = different.size() == places.size() &&
                              clusters.size() == places.size() &&
                              static_cast<int>(2 * clusters.size()) == multiprocessors;
  return is_one_of_each ? "one of each two" : fmt::format("{} SMs", different.size());
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

std::string described_places(const SchedulingCase& scheduling, const BlockPlaces& places,
                             int multiprocessors) {
  const std::size_t last = scheduling.kernels.size() - 1;
  if (last != 2) return described(places.at(last), multiprocessors);
  return fmt::format("{}, {}, {}", described(places.at(0), multiprocessors),
                     described(places.at(1), multiprocessors),
                     described(places.at(2), multiprocessors));
}

std::string predicted_result(const GpuModel& gpu, const SchedulingCase& scheduling) {
  return described_places(
      scheduling,
      predicted_places(gpu, PlacementRule::algorithm_1, scheduling.kernels, scheduling.ended),
      gpu.multiprocessors);
}

std::string kernels_text(const std::vector<KernelLaunch>& kernels) {
  std::vector<std::string> texts;
  for (std::size_t first = 0, next = 0; first < kernels.size(); first = next) {
    const KernelLaunch& kernel = kernels[first];
    while (next < kernels.size() && kernels[next] == kernel) ++next;
    texts.push_back(fmt::format("{}{}x{} {}",
                                next - first > 1 ? fmt::format("{} of ", next - first) : "",
                                kernel.blocks, kernel.threads, kernel.registers));
    if (kernel.shared_bytes > 0) {
      texts.back() += fmt::format(" {}K", kernel.shared_bytes / kKibibyte);
    }
  }
  return fmt::format("{}", fmt::join(texts, ", "));
}

}  // namespace tessera
