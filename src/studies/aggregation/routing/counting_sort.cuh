// Blocks that sort tiles of messages by list in shared memory before they append them, so that each
// reserves once for each list, and writes runs.
#pragma once

#include <cstdint>

#include "operators/cells/append.cuh"
#include "solvers/memory/launch.cuh"
#include "solvers/memory/warp.cuh"

namespace tessera {

/// Lists of messages, as kernels see them.
template <class Message>
struct MessageLists {
  Message* messages;  // [list][capacity]
  ListSize* sizes;    // [lists], beyond the capacity if that was asked for more
  std::int64_t capacity;
  int lists;
};

/// A message and the list that it belongs in.
template <class Message>
struct Parcel {
  Message message;
  unsigned list;
};

namespace counting_sort {

constexpr int kThreads = 256;
constexpr int kItems = 16;
constexpr int kTile = kThreads * kItems;
// Of a multiprocessor, by their registers and shared memory.
constexpr int kBlocksTogether = 4;
constexpr int kMaxLists = 256;
// Both fit 16 bits, in which the kernel keeps them.
static_assert(kTile <= 1 << 16 && kMaxLists <= 1 << 16);

/// starts[l] = sum of counts[k], k < l; called by the first warp of a block.
__device__ inline void sum_preceding_counts(const unsigned* counts, int lists, unsigned* starts) {
  const int lane = static_cast<int>(threadIdx.x);
  unsigned before = 0;
  for (int first = 0; first < lists; first += kWarp) {
    const unsigned own = first + lane < lists ? counts[first + lane] : 0;
    unsigned sum = own;
    for (int step = 1; step < kWarp; step *= 2) {
      const unsigned lower = __shfl_up_sync(kAllLanes, sum, step);
      if (lane >= step) sum += lower;
    }
    if (first + lane < lists) starts[first + lane] = before + sum - own;
    before += __shfl_sync(kAllLanes, sum, kWarp - 1);
  }
}

/// Appends parcel_of(i), i < count, to their lists; refuse(list, message) is called for those that
/// find their list full. A block a tile.
template <class Message, class ParcelOf, class Refuse>
__global__ void __launch_bounds__(kThreads, kBlocksTogether)
    append(ParcelOf parcel_of, std::int64_t count, MessageLists<Message> to, Refuse refuse) {
  __shared__ Message tile[kTile];
  __shared__ std::uint16_t list_of[kTile];
  __shared__ unsigned counts[kMaxLists];
  __shared__ unsigned starts[kMaxLists];
  __shared__ ListSize places[kMaxLists];
  const int thread = static_cast<int>(threadIdx.x);
  const std::int64_t first = static_cast<std::int64_t>(blockIdx.x) * kTile;
  for (int l = thread; l < to.lists; l += kThreads) counts[l] = 0;
  __syncthreads();
  Message messages[kItems];
  unsigned list_and_rank[kItems];
#pragma unroll
  for (int k = 0; k < kItems; ++k) {
    const std::int64_t i = first + k * kThreads + thread;
    if (i >= count) continue;
    const Parcel<Message> parcel = parcel_of(i);
    messages[k] = parcel.message;
    list_and_rank[k] = parcel.list << 16U | append_in_block(parcel.list, counts);
  }
  __syncthreads();
  if (thread < 32) sum_preceding_counts(counts, to.lists, starts);
  for (int l = thread; l < to.lists; l += kThreads) {
    if (counts[l] > 0) places[l] = atomicAdd(&to.sizes[l], ListSize{counts[l]});
  }
  __syncthreads();
#pragma unroll
  for (int k = 0; k < kItems; ++k) {
    if (first + k * kThreads + thread >= count) continue;
    const unsigned list = list_and_rank[k] >> 16U;
    const unsigned at = starts[list] + (list_and_rank[k] & 0xffffU);
    tile[at] = messages[k];
    list_of[at] = static_cast<std::uint16_t>(list);
  }
  __syncthreads();
  const int held = static_cast<int>(min(count - first, static_cast<std::int64_t>(kTile)));
  for (int j = thread; j < held; j += kThreads) {
    const unsigned list = list_of[j];
    const auto place = static_cast<std::int64_t>(places[list] + (j - starts[list]));
    if (place < to.capacity) {
      to.messages[list * to.capacity + place] = tile[j];
    } else {
      refuse(list, tile[j]);
    }
  }
}

}  // namespace counting_sort

/// Queues the appends of so many parcels to at most 256 lists. @throws DeviceError
template <class Message, class ParcelOf, class Refuse>
void append_by_counting_sort(ParcelOf parcel_of, std::int64_t count,
                             const MessageLists<Message>& to, Refuse refuse) {
  if (count == 0) return;
  launch(counting_sort::append<Message, ParcelOf, Refuse>,
         {.name = "appending by counting sort",
          .blocks = dim3(blocks_for(count, counting_sort::kTile)),
          .threads = dim3(counting_sort::kThreads)},
         parcel_of, count, to, refuse);
}

}  // namespace tessera
