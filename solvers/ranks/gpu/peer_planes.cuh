// This kernel adds planes of ranks that store into the memory of each other's GPUs.
#pragma once

#include "solvers/memory/reduction.cuh"
#include "solvers/ranks/gpu/entry_planes.cuh"
#include "solvers/ranks/gpu/peer_kernels.cuh"

namespace tessera {
namespace {

// The kernel of peer_carrier.cu, which alone includes this.

/// How the words of a plane are cut for blocks, the same on both sides.
struct WordCut {
  std::int64_t words;
  int per_block;
  int blocks;

  static WordCut of(std::int64_t words) {
    const std::int64_t even = (words + kPlaneBlocks - 1) / kPlaneBlocks;
    const auto per_block =
        static_cast<int>(std::clamp<std::int64_t>(even, kThreads, kWordsAThread * kThreads));
    return {words, per_block,
            static_cast<int>(
                std::min<std::int64_t>((words + per_block - 1) / per_block, kPlaneBlocks))};
  }
};

/// What a rank and a neighbor add.
struct PeerPlane {
  NumberedPlane entries;
  std::int64_t count;  // of entries
  WordCut cut;
  bool is_others;  // the neighbor counts these entries in sums
  Link link;
};

/// Those along an axis.
template <class T>
struct PeerPlanes {
  T* y;
  PeerPlane all[2];
  int count;
  const volatile int* is_given_up;
};

/// The values of a plane that go in one word.
template <class T>
constexpr int kValuesAWord = sizeof(Counter) / sizeof(T);

template <class T>
__device__ Counter bits_of(const T (&values)[kValuesAWord<T>]) {
  Counter bits;
  memcpy(&bits, values, sizeof(bits));
  return bits;
}

// What a block adds to y in one round: for the plane's words from number first on it stores this
// rank's values for the neighbor, then adds the neighbor's. Returns this thread's part of what that
// adds to the sum of y_i^2 over the entries that this rank counts, which are none of those that the
// neighbor counts: they are taken off as they were.
template <class T>
__device__ double add_words(const PeerPlane& plane, T* y, int block, std::int64_t first,
                            Counter number, const volatile int* is_given_up) {
  constexpr int kValues = kValuesAWord<T>;
  const auto words =
      static_cast<int>(min(std::int64_t{plane.cut.per_block}, plane.cut.words - first));
  const auto thread = static_cast<int>(threadIdx.x);
  const int mine = thread < words ? (words - thread + kThreads - 1) / kThreads : 0;
  const auto number_of = [&](int k, int v) {
    return (first + thread + k * kThreads) * kValues + v;
  };
  T own[kWordsAThread][kValues] = {};
#pragma unroll
  for (int k = 0; k < kWordsAThread; ++k) {
#pragma unroll
    for (int v = 0; v < kValues; ++v) {
      if (k < mine && number_of(k, v) < plane.count) {
        own[k][v] = y[plane.entries.entry(number_of(k, v))];
      }
    }
  }
  NumberedWord* const there = plane.link.theirs->planes[block][number % kSlots] + thread;
#pragma unroll
  for (int k = 0; k < kWordsAThread; ++k) {
    if (k < mine) store_word(there + k * kThreads, {bits_of<T>(own[k]), number});
  }
  NumberedWord come[kWordsAThread];
  load_words(come, plane.link.mine->planes[block][number % kSlots] + thread, kThreads, mine, number,
             is_given_up);
  double change = 0.0;
#pragma unroll
  for (int k = 0; k < kWordsAThread; ++k) {
    T theirs[kValues];
    memcpy(theirs, &come[k].bits, sizeof(theirs));
#pragma unroll
    for (int v = 0; v < kValues; ++v) {
      if (k >= mine || number_of(k, v) >= plane.count) continue;
      const T after = own[k][v] + theirs[v];
      y[plane.entries.entry(number_of(k, v))] = after;
      const auto wide_before = static_cast<double>(own[k][v]);
      const auto wide_after = plane.is_others ? 0.0 : static_cast<double>(after);
      change += (wide_after - wide_before) * (wide_after + wide_before);
    }
  }
  return change;
}

// y_i += what the neighbors have of it, on the planes along an axis, which have no entry in common.
// With has_sums also the sums of all ranks. Launch: up to 128 blocks of kThreads for each plane, by
// turns; block b of a plane meets block b of the neighbor's, and waits for no other. A block goes
// on to the next of its words when all of its threads have the neighbor's: so whoever stores in a
// place for the second time knows that the first has been read. Deterministic. Bytes: a value of a
// plane is read and written once, and passes the link with as many bytes beside it; words are
// written and read once.
template <bool has_sums, class T>
__global__ void __launch_bounds__(kThreads)
    add_peer_planes_kernel(const PeerPlanes<T> planes, const PlaneSums<T> sums,
                           const PeerNumbers peers, Sums<2>* partial, unsigned* arrived) {
  const PeerPlane& plane = planes.all[static_cast<int>(blockIdx.x) % planes.count];
  const int block = static_cast<int>(blockIdx.x) / planes.count;
  Sums<2> change;
  if (block < plane.cut.blocks) {
    Counter& rounds = plane.link.counts->planes[block];
    Counter number = rounds;
    const std::int64_t stride = std::int64_t{plane.cut.blocks} * plane.cut.per_block;
    for (std::int64_t first = std::int64_t{block} * plane.cut.per_block; first < plane.cut.words;
         first += stride) {
      ++number;
      change[1] += add_words(plane, planes.y, block, first, number, planes.is_given_up);
      __syncthreads();
    }
    if (threadIdx.x == 0) rounds = number;
  }
  if constexpr (has_sums) {
    for (std::int64_t k = thread_number<kThreads>(); k < sums.row_count;
         k += thread_count<kThreads>()) {
      const auto value = static_cast<double>(planes.y[sums.rows[k]]);
      change[0] -= static_cast<double>(sums.x[sums.rows[k]]) * value;
      change[1] -= value * value;
    }
    __shared__ double mine[3];
    __shared__ bool is_last;
    const int count = sums.mine == nullptr ? 2 : 3;
    if (threadIdx.x == 0) is_last = false;
    reduce_over_grid<kThreads>(change, partial, arrived, [&](const Sums<2>& total) {
      for (int k = 0; k < 2; ++k) mine[k] = sums.own[k] + total[k];
      if (count > 2) mine[2] = *sums.mine;
      is_last = true;
    });
    __syncthreads();
    if (is_last && threadIdx.x < kWarp) add_numbers(peers, mine, count, sums.sums);
  }
}

}  // namespace
}  // namespace tessera
