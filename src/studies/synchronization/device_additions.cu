// The kernels of additions to shared entries.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>

#include "solvers/memory/launch.cuh"
#include "src/studies/sharing/device_adders.cuh"
#include "src/studies/synchronization/device_additions.hpp"

namespace tessera {
namespace {

namespace cg = cooperative_groups;

constexpr int kThreads = 256;

// Powers of 2 are shifts and masks here.
struct DevicePlaces {
  std::int64_t groups_mask;   // n / m - 1
  std::int64_t entries_mask;  // used entries - 1
  std::int64_t stride;        // between used entries
  int sharing_shift;          // log2 of m
  bool is_distant;

  __device__ std::int64_t group(std::int64_t i) const {
    return is_distant ? i & groups_mask : i >> sharing_shift;
  }
  __device__ std::int64_t entry(std::int64_t group) const {
    return (group & entries_mask) * stride;
  }
};

int log2_of(std::int64_t power) {
  int shift = 0;
  while ((std::int64_t{1} << shift) < power) ++shift;
  return shift;
}

DevicePlaces device_places(const AdditionPlaces& places) {
  return {.groups_mask = places.groups() - 1,
          .entries_mask = places.used_entries() - 1,
          .stride = places.table_entries / places.used_entries(),
          .sharing_shift = log2_of(places.sharing),
          .is_distant = places.shared_by == SharedBy::distant_blocks};
}

// The groups of a block are neighbors of its first thread's, so each has a slot of shared memory.
__device__ void add_block_sums(double* table, const DevicePlaces& places, std::int64_t i) {
  __shared__ double sums[kThreads];
  const std::int64_t first = places.group(static_cast<std::int64_t>(blockIdx.x) * kThreads);
  sums[threadIdx.x] = 0.0;
  __syncthreads();
  atomicAdd(&sums[places.group(i) - first], 1.0);
  __syncthreads();
  // Slots without a group have no addition.
  if (sums[threadIdx.x] == 0.0) return;
  atomicAdd(&table[places.entry(first + threadIdx.x)], sums[threadIdx.x]);
}

template <DeviceAddition addition>
__global__ void __launch_bounds__(kThreads)
    add_ones(DevicePlaces places, double* __restrict__ table, double* __restrict__ sink) {
  const std::int64_t i = thread_number<kThreads>();
  double* const entry = &table[places.entry(places.group(i))];
  if constexpr (addition == DeviceAddition::atomic) {
    atomicAdd(entry, 1.0);
  } else if constexpr (addition == DeviceAddition::atomic_result) {
    // Sums are never negative, but the compiler does not know.
    const double before = atomicAdd(entry, 1.0);
    if (before < 0.0) *sink = before;
  } else if constexpr (addition == DeviceAddition::cas) {
    add_by_cas(entry, 1.0);
  } else if constexpr (addition == DeviceAddition::warp_sums) {
    const auto same =
        cg::labeled_partition(cg::tiled_partition<32>(cg::this_thread_block()), entry - table);
    const double sum = cg::reduce(same, 1.0, cg::plus<double>());
    if (same.thread_rank() == 0) atomicAdd(entry, sum);
  } else if constexpr (addition == DeviceAddition::block_sums) {
    add_block_sums(table, places, i);
  } else {
    add_unprotected(entry, 1.0);
  }
}

// sums[0] += what is missing in the used entries, sums[1] += entries that are wrong.
__global__ void __launch_bounds__(kThreads)
    compare_entries(std::int64_t used, std::int64_t stride, double expected,
                    const double* __restrict__ table, double* __restrict__ sums) {
  for (std::int64_t i = thread_number<kThreads>(); i < used; i += thread_count<kThreads>()) {
    const double missing = expected - table[i * stride];
    if (missing == 0.0) continue;
    atomicAdd(&sums[0], missing);
    atomicAdd(&sums[1], 1.0);
  }
}

}  // namespace

DeviceAdditions::DeviceAdditions(std::int64_t table_entries) : table_(table_entries), sums_(2) {}

double DeviceAdditions::seconds(DeviceAddition addition, const AdditionPlaces& places) {
  zero_on_device(table_.data(), table_.bytes());
  const Launch as = {.name = "adding ones",
                     .blocks = dim3(blocks_for(places.additions, kThreads)),
                     .threads = dim3(kThreads)};
  const auto add = [&](auto kernel) {
    stopwatch_.start();
    launch(kernel, as, device_places(places), table_.data(), sums_.data());
    return stopwatch_.stop();
  };
  switch (addition) {
    case DeviceAddition::atomic:
      return add(add_ones<DeviceAddition::atomic>);
    case DeviceAddition::atomic_result:
      return add(add_ones<DeviceAddition::atomic_result>);
    case DeviceAddition::cas:
      return add(add_ones<DeviceAddition::cas>);
    case DeviceAddition::warp_sums:
      return add(add_ones<DeviceAddition::warp_sums>);
    case DeviceAddition::block_sums:
      return add(add_ones<DeviceAddition::block_sums>);
    default:
      return add(add_ones<DeviceAddition::unprotected>);
  }
}

DeviceAdditions::Result DeviceAdditions::result(const AdditionPlaces& places) {
  constexpr std::int64_t kMaxBlocks = 4096;
  zero_on_device(sums_.data(), sums_.bytes());
  const std::int64_t used = places.used_entries();
  launch(compare_entries,
         {.name = "comparing sums",
          .blocks = dim3(blocks_for(used, kThreads, kMaxBlocks)),
          .threads = dim3(kThreads)},
         used, places.table_entries / used,
         static_cast<double>(places.additions) / static_cast<double>(used), table_.data(),
         sums_.data());
  const std::vector<double> sums = to_host(sums_);
  return {.missing = sums[0], .wrong_entries = sums[1]};
}

}  // namespace tessera
