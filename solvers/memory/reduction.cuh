// These reductions over a grid of thread blocks have the same bits in every run.
#pragma once

#include <cub/block/block_reduce.cuh>

#include "solvers/memory/device_array.hpp"
#include "solvers/memory/launch.cuh"

namespace tessera {

/// The launch shape of kernels that pass over vectors. There are never more blocks than fill a
/// large GPU, so that partial sums are few; the shape depends on nothing but the length.
inline constexpr int kReductionThreads = 256;
inline constexpr int kMaxReductionBlocks = 1024;

/// A launch of that shape for vectors of n entries.
inline Launch reduction_launch(const char* name, std::int64_t n) {
  constexpr int kMinPerThread = 4;
  const unsigned blocks = blocks_for(n, kReductionThreads * kMinPerThread, kMaxReductionBlocks);
  return {name, std::max(blocks, 1U), kReductionThreads};
}

/// Sums that are reduced together.
template <int count>
struct Sums {
  double values[count] = {};

  __device__ double& operator[](int i) { return values[i]; }
  __device__ double operator[](int i) const { return values[i]; }
  __device__ Sums operator+(const Sums& other) const {
    Sums sum;
#pragma unroll
    for (int i = 0; i < count; ++i) sum[i] = values[i] + other[i];
    return sum;
  }
};

/// Where blocks leave their partial sums, and the number of blocks that have done so.
template <int count>
class ReductionBuffer {
 public:
  ReductionBuffer() : partial_(kMaxReductionBlocks), arrived_(1) {
    zero_on_device(arrived_.data(), arrived_.bytes());
  }
  Sums<count>* partial() { return partial_.data(); }
  unsigned* arrived() { return arrived_.data(); }

 private:
  DeviceArray<Sums<count>> partial_;
  DeviceArray<unsigned> arrived_;
};

/// Loads sums that other blocks have written, past caches that may hold older values.
template <int count>
__device__ Sums<count> load_past_l1(const Sums<count>& sums) {
  Sums<count> loaded;
#pragma unroll
  for (int i = 0; i < count; ++i) loaded[i] = __ldcg(&sums.values[i]);
  return loaded;
}

/// The sum over the threads of a block in a fixed order, for its first thread.
template <int threads, int count>
__device__ Sums<count> sum_over_block(const Sums<count>& mine) {
  using BlockReduce = cub::BlockReduce<Sums<count>, threads>;
  __shared__ typename BlockReduce::TempStorage storage;
  const Sums<count> sum = BlockReduce(storage).Reduce(
      mine, [](const Sums<count>& a, const Sums<count>& b) { return a + b; });
  __syncthreads();
  return sum;
}

/// The sum of what `blocks` blocks have left, in a fixed order, for the first thread of a block.
template <int threads, int count>
__device__ Sums<count> sum_of_blocks(const Sums<count>* partial, unsigned blocks) {
  Sums<count> sum;
#pragma unroll 4
  for (unsigned b = threadIdx.x; b < blocks; b += threads) sum = sum + load_past_l1(partial[b]);
  return sum_over_block<threads>(sum);
}

/// Sums `mine` over all threads of the grid; the last block to arrive calls finish(sum) on its
/// first thread. Threads and then blocks are added in a fixed order, so the sum is deterministic.
/// @param arrived 0, and 0 again afterwards
template <int threads = kReductionThreads, int count, class Finish>
__device__ void reduce_over_grid(const Sums<count>& mine, Sums<count>* partial, unsigned* arrived,
                                 Finish&& finish) {
  __shared__ bool is_last;
  const unsigned blocks = gridDim.x * gridDim.y * gridDim.z;
  const Sums<count> of_block = sum_over_block<threads>(mine);
  if (threadIdx.x == 0) {
    partial[blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z)] = of_block;
    __threadfence();
    // The counter wraps to 0 at the last block and is ready for the next kernel.
    is_last = atomicInc(arrived, blocks - 1) == blocks - 1;
  }
  __syncthreads();
  if (!is_last) return;
  __threadfence();
  const Sums<count> sum = sum_of_blocks<threads>(partial, blocks);
  if (threadIdx.x == 0) finish(sum);
}

}  // namespace tessera
