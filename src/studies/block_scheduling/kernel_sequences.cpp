#include "src/studies/block_scheduling/kernel_sequences.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace tessera {
namespace {

constexpr int kThreadsPerWarp = 32;
constexpr int kMaxWarps = 32;
constexpr int kRegisterUnit = 8;
constexpr int kKibibyte = 1024;

/// The same numbers from a generator on every machine, unlike the library's distributions.
int uniform(int least, int most, std::mt19937_64& random) {
  const auto values = static_cast<std::uint64_t>(most - least) + 1;
  return least + static_cast<int>(random() % values);
}

KernelLaunch random_kernel(const GpuModel& gpu, std::span<const int> registers, int max_shared,
                           std::mt19937_64& random) {
  KernelLaunch kernel{};
  kernel.blocks = uniform(1, gpu.multiprocessors * 3 / 2, random);
  kernel.registers = registers[static_cast<std::size_t>(
      uniform(0, static_cast<int>(registers.size()) - 1, random))];
  const int rounded = (kernel.registers + kRegisterUnit - 1) / kRegisterUnit * kRegisterUnit;
  // Each sub-partition has registers for whole warps only.
  const int max_warps =
      std::min(kMaxWarps, kSubPartitions * (gpu.registers / (rounded * kThreadsPerWarp)));
  kernel.threads = kThreadsPerWarp * uniform(1, max_warps, random);
  // Half of the kernels have none.
  if (uniform(0, 1, random) == 1) {
    kernel.shared_bytes = kKibibyte * uniform(1, std::min(64, max_shared / kKibibyte), random);
  }
  return kernel;
}

}  // namespace

std::vector<KernelLaunch> random_sequence(const GpuModel& gpu, std::span<const int> registers,
                                          int max_shared, int max_kernels,
                                          std::mt19937_64& random) {
  BlockScheduler scheduler(gpu);
  std::vector<KernelLaunch> kernels;
  while (static_cast<int>(kernels.size()) < max_kernels) {
    kernels.push_back(random_kernel(gpu, registers, max_shared, random));
    if (scheduler.waits(scheduler.launch(kernels.back()))) break;
  }
  return kernels;
}

BlockPlaces predicted_places(const GpuModel& gpu, PlacementRule rule,
                             std::span<const KernelLaunch> kernels, std::span<const int> ended) {
  BlockScheduler scheduler(gpu, rule);
  for (std::size_t kernel = 0; kernel < kernels.size(); ++kernel) {
    if (kernel + 1 == kernels.size()) {
      for (const int number : ended) scheduler.finish(number);
    }
    scheduler.launch(kernels[kernel]);
  }
  BlockPlaces places;
  for (std::size_t kernel = 0; kernel < kernels.size(); ++kernel) {
    places.push_back(scheduler.places(static_cast<int>(kernel)));
    places.back().resize(static_cast<std::size_t>(kernels[kernel].blocks), kNotStarted);
  }
  return places;
}

PredictionAgreement agreement(const BlockPlaces& predicted, const BlockPlaces& seen) {
  const auto sorted = [](BlockPlaces places) {
    for (std::vector<int>& of_kernel : places) std::sort(of_kernel.begin(), of_kernel.end());
    return places;
  };
  const auto started = [](const BlockPlaces& places) {
    std::vector<std::ptrdiff_t> counts;
    for (const std::vector<int>& of_kernel : places) {
      counts.push_back(std::count_if(of_kernel.begin(), of_kernel.end(),
                                     [](int place) { return place != kNotStarted; }));
    }
    return counts;
  };
  return {.exact = predicted == seen,
          .same_multiprocessors = sorted(predicted) == sorted(seen),
          .same_company = started(predicted) == started(seen)};
}

std::vector<KernelLaunch> cut_down(
    std::vector<KernelLaunch> kernels,
    const std::function<bool(std::span<const KernelLaunch>)>& is_mistaken) {
  for (bool has_shrunk = true; has_shrunk;) {
    has_shrunk = false;
    for (std::size_t left_out = 0; left_out < kernels.size() && kernels.size() > 1;) {
      std::vector<KernelLaunch> shorter = kernels;
      shorter.erase(shorter.begin() + static_cast<std::ptrdiff_t>(left_out));
      if (is_mistaken(shorter)) {
        kernels = std::move(shorter);
        has_shrunk = true;
      } else {
        ++left_out;
      }
    }
  }
  return kernels;
}

std::string mismatch_json(const GpuModel& gpu, const std::string& machine, std::uint64_t seed,
                          const std::vector<Mismatch>& mismatches) {
  using Json = nlohmann::ordered_json;
  Json all = Json::array();
  for (const Mismatch& mismatch : mismatches) {
    Json kernels = Json::array();
    for (std::size_t i = 0; i < mismatch.kernels.size(); ++i) {
      const KernelLaunch& kernel = mismatch.kernels[i];
      kernels.push_back({{"blocks", kernel.blocks},
                         {"threads", kernel.threads},
                         {"registers", kernel.registers},
                         {"shared_bytes", kernel.shared_bytes},
                         {"predicted", mismatch.predicted.at(i)},
                         {"seen", mismatch.seen.at(i)}});
    }
    all.push_back(kernels);
  }
  const Json json = {{"machine", machine},         {"multiprocessors", gpu.multiprocessors},
                     {"tie_order", gpu.order},     {"seed", seed},
                     {"not_started", kNotStarted}, {"mismatches", all}};
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace tessera
