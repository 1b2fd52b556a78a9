// GPU threads that append to a list reserve their places in it together.
#pragma once

#include <cooperative_groups.h>

#include "solvers/memory/warp.cuh"

namespace tessera {

/// The length of a list that threads append to, and a place in it.
using ListSize = unsigned long long;

/// A place that a thread has in a list.
struct Reserved {
  ListSize place;
  /// Whether it was this thread that added to the list's length, for itself and others.
  bool is_leader;
};

/// Whether a thread that takes part appends an entry.
enum class Appends { no, yes };

__device__ inline Appends appends_if(bool condition) {
  return condition ? Appends::yes : Appends::no;
}

/// The place of one entry of the calling thread: the threads of a warp that come here together add
/// once to the list's length. Any branch may call it.
__device__ inline Reserved append_by_warp(ListSize* size) {
  const auto together = cooperative_groups::coalesced_threads();
  ListSize first = 0;
  if (together.thread_rank() == 0) first = atomicAdd(size, together.size());
  return {together.shfl(first, 0) + together.thread_rank(), together.thread_rank() == 0};
}

/// The place of one entry of the calling thread among those of its block that go into the same of
/// several lists: counts[list]++, once for the threads of a warp that come here with the same list.
/// @param counts in shared memory
__device__ inline unsigned append_in_block(unsigned list, unsigned* counts) {
  const auto same =
      cooperative_groups::labeled_partition(cooperative_groups::coalesced_threads(), list);
  unsigned first = 0;
  if (same.thread_rank() == 0) first = atomicAdd(&counts[list], same.size());
  return same.shfl(first, 0) + same.thread_rank();
}

/// Appends for the threads of a block, a multiple of 32 threads along x, with one addition to the
/// list's length. Scratch is in shared memory, and may serve any number of appends.
template <int threads>
class BlockAppend {
 public:
  static constexpr int warps = threads / kWarp;
  static_assert(threads % kWarp == 0 && warps <= kWarp);

  struct Scratch {
    unsigned counts[warps];
    ListSize first[warps];
  };

  __device__ explicit BlockAppend(Scratch& scratch) : scratch_(scratch) {}

  /// The place of an entry of each thread that appends one, in the order of the threads. All
  /// threads of the block call it together; of those that append nothing the place is meaningless.
  __device__ Reserved operator()(Appends appends, ListSize* size) const {
    const unsigned lane = threadIdx.x % kWarp;
    const unsigned warp = threadIdx.x / kWarp;
    const unsigned appending = __ballot_sync(kAllLanes, appends == Appends::yes);
    if (lane == 0) scratch_.counts[warp] = __popc(appending);
    __syncthreads();
    bool is_leader = false;
    if (warp == 0) {
      const unsigned own = lane < warps ? scratch_.counts[lane] : 0;
      unsigned sum = own;
      for (unsigned step = 1; step < kWarp; step *= 2) {
        const unsigned before = __shfl_up_sync(kAllLanes, sum, step);
        if (lane >= step) sum += before;
      }
      // The last lane has the sum of all.
      is_leader = lane == kWarp - 1 && sum > 0;
      ListSize first = 0;
      if (is_leader) first = atomicAdd(size, sum);
      first = __shfl_sync(kAllLanes, first, kWarp - 1);
      if (lane < warps) scratch_.first[lane] = first + sum - own;
    }
    __syncthreads();
    // What the next append writes first are the counts, so that nobody has to wait for this read.
    return {scratch_.first[warp] + __popc(appending & ((1U << lane) - 1)), is_leader};
  }

 private:
  Scratch& scratch_;
};

}  // namespace tessera
