// These reductions over a grid of thread blocks have the same bits in every run.
#pragma once

#include <cub/block/block_reduce.cuh>

#include "solvers/memory/cuda_check.hpp"
#include "solvers/memory/device_array.hpp"

namespace tessera {

/// The launch shape of kernels that pass over vectors. There are never more blocks than fill a
/// large GPU, so that partial sums are few; the shape depends on nothing but the length.
inline constexpr int kReductionThreads = 256;
inline constexpr int kMaxReductionBlocks = 1024;

inline int reduction_blocks(std::int64_t n) {
  constexpr std::int64_t kLeastPerThread = 4;
  const std::int64_t blocks =
      (n + kReductionThreads * kLeastPerThread - 1) / (kReductionThreads * kLeastPerThread);
  return static_cast<int>(blocks < 1                     ? 1
                          : blocks > kMaxReductionBlocks ? kMaxReductionBlocks
                                                         : blocks);
}

/// Two sums that are reduced together.
struct SumPair {
  double first = 0.0;
  double second = 0.0;

  __device__ SumPair operator+(const SumPair& other) const {
    return {first + other.first, second + other.second};
  }
};

/// Three sums that are reduced together.
struct SumTriple {
  double first = 0.0;
  double second = 0.0;
  double third = 0.0;

  __device__ SumTriple operator+(const SumTriple& other) const {
    return {first + other.first, second + other.second, third + other.third};
  }
};

/// Where blocks leave their partial sums, and the number of blocks that have done so.
template <class Sum>
class ReductionBufferOf {
 public:
  ReductionBufferOf() : partial_(kMaxReductionBlocks), arrived_(1) {
    zero_on_device(arrived_.data(), arrived_.bytes());
  }
  Sum* partial() { return partial_.data(); }
  unsigned* arrived() { return arrived_.data(); }

 private:
  DeviceArray<Sum> partial_;
  DeviceArray<unsigned> arrived_;
};
using ReductionBuffer = ReductionBufferOf<SumPair>;

/// Loads sums that other blocks have written, past caches that may hold older values.
__device__ inline SumPair load_past_l1(const SumPair* sum) {
  return {__ldcg(&sum->first), __ldcg(&sum->second)};
}
__device__ inline SumTriple load_past_l1(const SumTriple* sum) {
  return {__ldcg(&sum->first), __ldcg(&sum->second), __ldcg(&sum->third)};
}

/// Sums `mine` over all threads of the grid; the last block to arrive calls finish(sum) on its
/// first thread. Threads and then blocks are added in a fixed order, so the sum is deterministic.
template <class Sum, class Finish>
__device__ void reduce_over_grid(Sum mine, Sum* partial, unsigned* arrived, Finish&& finish) {
  using BlockReduce = cub::BlockReduce<Sum, kReductionThreads>;
  __shared__ typename BlockReduce::TempStorage storage;
  __shared__ bool is_last;
  const auto add = [](const Sum& a, const Sum& b) { return a + b; };
  const Sum of_block = BlockReduce(storage).Reduce(mine, add);
  if (threadIdx.x == 0) {
    partial[blockIdx.x] = of_block;
    __threadfence();
    // The counter wraps to 0 at the last block and is ready for the next kernel.
    is_last = atomicInc(arrived, gridDim.x - 1) == gridDim.x - 1;
  }
  __syncthreads();
  if (!is_last) return;
  __threadfence();
  Sum sum;
  for (unsigned b = threadIdx.x; b < gridDim.x; b += kReductionThreads) {
    sum = sum + load_past_l1(&partial[b]);
  }
  sum = BlockReduce(storage).Reduce(sum, add);
  if (threadIdx.x == 0) finish(sum);
}

}  // namespace tessera
