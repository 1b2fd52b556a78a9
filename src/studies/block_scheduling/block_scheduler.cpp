#include "src/studies/block_scheduling/block_scheduler.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <stdexcept>
#include <utility>

namespace tessera {
namespace {

constexpr int kKibibyte = 1024;
constexpr int kThreadsPerWarp = 32;
/// Registers are given out in units of this many, shared memory in units of this many bytes.
constexpr int kRegisterUnit = 256;
constexpr int kSharedUnit = 128;
/// CUDA takes this much shared memory of each block for itself.
constexpr int kReservedShared = kKibibyte;

constexpr int round_up(int value, int unit) { return (value + unit - 1) / unit * unit; }

}  // namespace

const GpuModel& rtx_3090() {
  static const GpuModel gpu{.name = "RTX 3090",
                            .multiprocessors = 82,
                            .blocks = 16,
                            .warps = 12,
                            .registers = 16384,
                            .carve_outs = {8, 16, 32, 64, 100}};
  return gpu;
}

const GpuModel& compute_capability_90() {
  static const GpuModel gpu{.name = "sm_90",
                            .multiprocessors = 132,
                            .blocks = 32,
                            .warps = 16,
                            .registers = 16384,
                            .carve_outs = {0, 8, 16, 32, 64, 100, 132, 164, 196, 228}};
  return gpu;
}

BlockScheduler::BlockScheduler(GpuModel gpu, PlacementRule rule)
    : gpu_(std::move(gpu)), rule_(rule) {
  if (gpu_.order.empty()) {
    for (const int first : {0, 1}) {
      for (int next = first; next < gpu_.multiprocessors; next += 2) gpu_.order.push_back(next);
    }
  }
  Multiprocessor empty;
  empty.free_warps.fill(gpu_.warps);
  empty.free_registers.fill(gpu_.registers);
  multiprocessors_.assign(gpu_.multiprocessors, empty);
  carve_outs_.assign((gpu_.multiprocessors + 1) / 2, 0);
}

int BlockScheduler::launch(const KernelLaunch& kernel) {
  kernels_.push_back(described(kernel));
  start_waiting();
  return static_cast<int>(kernels_.size()) - 1;
}

void BlockScheduler::finish(int kernel) {
  if (waits(kernel)) throw std::logic_error("A kernel that waits was to end");
  for (Multiprocessor& multiprocessor : multiprocessors_) {
    std::erase_if(multiprocessor.blocks, [&](const Block& block) {
      if (block.kernel != kernel) return false;
      for (int part = 0; part < kSubPartitions; ++part) {
        multiprocessor.free_warps[part] += block.warps[part];
        multiprocessor.free_registers[part] += block.warps[part] * block.registers_per_warp;
      }
      return true;
    });
  }
  start_waiting();
}

const std::vector<int>& BlockScheduler::places(int kernel) const {
  return kernels_.at(kernel).places;
}

bool BlockScheduler::waits(int kernel) const {
  const Kernel& asked = kernels_.at(kernel);
  return static_cast<int>(asked.places.size()) < asked.launch.blocks;
}

BlockScheduler::Kernel BlockScheduler::described(const KernelLaunch& launch) const {
  if (launch.blocks < 1 || launch.threads < 1 || launch.registers < 1 || launch.shared_bytes < 0) {
    throw std::invalid_argument("A kernel needs blocks, threads and registers");
  }
  Kernel kernel{.launch = launch,
                .warps = round_up(launch.threads, kThreadsPerWarp) / kThreadsPerWarp,
                .registers_per_warp = round_up(kThreadsPerWarp * launch.registers, kRegisterUnit),
                .shared = round_up(launch.shared_bytes, kSharedUnit) + kReservedShared,
                .carve_out = 0,
                .places = {}};
  Multiprocessor empty;
  empty.free_warps.fill(gpu_.warps);
  empty.free_registers.fill(gpu_.registers);
  const int blocks = std::min({gpu_.blocks, blocks_by_warps(empty, kernel),
                               gpu_.carve_outs.back() * kKibibyte / kernel.shared});
  if (blocks == 0) {
    throw std::invalid_argument(fmt::format(
        "A block of {} threads with {} registers each and {} bytes of shared memory fits no "
        "multiprocessor of {}",
        launch.threads, launch.registers, launch.shared_bytes, gpu_.name));
  }
  kernel.carve_out = *std::lower_bound(gpu_.carve_outs.begin(), gpu_.carve_outs.end(),
                                       round_up(blocks * kernel.shared, kKibibyte) / kKibibyte) *
                     kKibibyte;
  return kernel;
}

/// Warps go to sub-partitions in turn from `next` on, up to the first that is full.
int BlockScheduler::blocks_by_warps(const Multiprocessor& multiprocessor, const Kernel& kernel) {
  std::array<int, kSubPartitions> capacity;
  for (int turn = 0; turn < kSubPartitions; ++turn) {
    const int part = (multiprocessor.next + turn) % kSubPartitions;
    capacity[turn] = std::min(multiprocessor.free_warps[part],
                              multiprocessor.free_registers[part] / kernel.registers_per_warp);
  }
  const auto* const least = std::min_element(capacity.begin(), capacity.end());
  const int warps = kSubPartitions * *least + static_cast<int>(least - capacity.begin());
  return warps / kernel.warps;
}

bool BlockScheduler::is_busy() const {
  return std::any_of(multiprocessors_.begin(), multiprocessors_.end(),
                     [](const Multiprocessor& each) { return !each.blocks.empty(); });
}

bool BlockScheduler::is_cluster_busy(int multiprocessor) const {
  const int first = multiprocessor / 2 * 2;
  const int end = std::min(first + 2, gpu_.multiprocessors);
  return std::any_of(multiprocessors_.begin() + first, multiprocessors_.begin() + end,
                     [](const Multiprocessor& each) { return !each.blocks.empty(); });
}

/// The blocks that fit if neither sub-partitions nor carve-outs nor gaps matter.
int BlockScheduler::room_in_all(int multiprocessor, const Kernel& kernel) const {
  const Multiprocessor& each = multiprocessors_[multiprocessor];
  const int warps = std::accumulate(each.free_warps.begin(), each.free_warps.end(), 0);
  const int registers = std::accumulate(each.free_registers.begin(), each.free_registers.end(), 0);
  int shared = gpu_.carve_outs.back() * kKibibyte;
  for (const Block& block : each.blocks) shared -= block.shared.end - block.shared.begin;
  return std::min({gpu_.blocks - static_cast<int>(each.blocks.size()), warps / kernel.warps,
                   registers / (kernel.registers_per_warp * kernel.warps), shared / kernel.shared});
}

/// The blocks of this kernel that the multiprocessor has room for.
int BlockScheduler::room(int multiprocessor, const Kernel& kernel) const {
  if (rule_ != PlacementRule::algorithm_1) return room_in_all(multiprocessor, kernel);
  const Multiprocessor& each = multiprocessors_[multiprocessor];
  int shared = kernel.carve_out;
  if (is_cluster_busy(multiprocessor)) {
    if (kernel.carve_out > carve_outs_[multiprocessor / 2]) return 0;
    const SharedRange gap = largest_gap(multiprocessor);
    shared = gap.end - gap.begin;
  }
  return std::min({gpu_.blocks - static_cast<int>(each.blocks.size()),
                   blocks_by_warps(each, kernel), shared / kernel.shared});
}

BlockScheduler::SharedRange BlockScheduler::largest_gap(int multiprocessor) const {
  std::vector<SharedRange> taken;
  for (const Block& block : multiprocessors_[multiprocessor].blocks) taken.push_back(block.shared);
  std::sort(taken.begin(), taken.end(),
            [](const SharedRange& a, const SharedRange& b) { return a.begin < b.begin; });
  const int end = carve_outs_[multiprocessor / 2];
  taken.push_back({.begin = end, .end = end});
  SharedRange largest{.begin = 0, .end = 0};
  int begin = 0;
  for (const SharedRange& range : taken) {
    if (range.begin - begin > largest.end - largest.begin) {
      largest = {.begin = begin, .end = range.begin};
    }
    begin = range.end;
  }
  return largest;
}

std::optional<int> BlockScheduler::choose(const Kernel& kernel) const {
  if (rule_ == PlacementRule::in_turn) return next_in_turn(kernel);
  if (kernel.launch.local_bytes > local_bytes_ && is_busy()) return std::nullopt;
  std::optional<int> chosen;
  int most = 0;
  for (const int candidate : gpu_.order) {
    const int blocks = room(candidate, kernel);
    if (blocks > most) {
      most = blocks;
      chosen = candidate;
    }
  }
  return chosen;
}

std::optional<int> BlockScheduler::next_in_turn(const Kernel& kernel) const {
  for (std::size_t step = 0; step < gpu_.order.size(); ++step) {
    const int candidate = gpu_.order[(turn_ + step) % gpu_.order.size()];
    if (room(candidate, kernel) > 0) return candidate;
  }
  return std::nullopt;
}

void BlockScheduler::place(int multiprocessor, int kernel) {
  Kernel& placed = kernels_[kernel];
  Multiprocessor& target = multiprocessors_[multiprocessor];
  local_bytes_ = std::max(local_bytes_, placed.launch.local_bytes);
  if (!is_cluster_busy(multiprocessor)) carve_outs_[multiprocessor / 2] = placed.carve_out;
  const int shared = largest_gap(multiprocessor).begin;
  Block block{.kernel = kernel,
              .warps = {},
              .registers_per_warp = placed.registers_per_warp,
              .shared = {.begin = shared, .end = shared + placed.shared}};
  for (int warp = 0; warp < placed.warps; ++warp) {
    const int part = (target.next + warp) % kSubPartitions;
    ++block.warps[part];
    --target.free_warps[part];
    target.free_registers[part] -= placed.registers_per_warp;
  }
  target.next += placed.warps + (placed.warps % kSubPartitions == 0 ? 1 : 0);
  target.next %= kSubPartitions;
  target.blocks.push_back(block);
  placed.places.push_back(multiprocessor);
  const auto at = std::find(gpu_.order.begin(), gpu_.order.end(), multiprocessor);
  turn_ = static_cast<std::size_t>(at - gpu_.order.begin()) + 1;
}

void BlockScheduler::start_waiting() {
  for (; first_waiting_ < kernels_.size(); ++first_waiting_) {
    const int kernel = static_cast<int>(first_waiting_);
    while (waits(kernel)) {
      const std::optional<int> multiprocessor = choose(kernels_[kernel]);
      if (!multiprocessor) return;
      place(*multiprocessor, kernel);
    }
  }
}

}  // namespace tessera
