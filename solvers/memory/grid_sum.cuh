// A GridSum gives the sum over a whole grid to each of its threads.
#pragma once

#include "solvers/memory/reduction.cuh"

namespace tessera {

/// What a block has added up, and the number of the sum that it belongs to: 0 is none.
struct alignas(16) PostedSum {
  double value;
  unsigned long long number;
};

/// Stores and loads both as one access of 128 bits, past L1.
__device__ __forceinline__ void post(const PostedSum& sum, PostedSum* to) {
  asm volatile(
      "{ .reg .b128 both; mov.b128 both, {%1, %2}; st.relaxed.gpu.b128 [%0], both; }" ::"l"(to),
      "l"(__double_as_longlong(sum.value)), "l"(sum.number)
      : "memory");
}
__device__ __forceinline__ PostedSum posted(const PostedSum* from) {
  long long value;
  unsigned long long number;
  asm volatile("{ .reg .b128 both; ld.relaxed.gpu.b128 both, [%2]; mov.b128 {%0, %1}, both; }"
               : "=l"(value), "=l"(number)
               : "l"(from)
               : "memory");
  return {__longlong_as_double(value), number};
}

/// Where blocks post their sums, as kernels are given it.
struct GridSumPlaces {
  static constexpr int kMaxBlocks = 2048;
  static constexpr int kMaxCount = 2;
  static constexpr int kPerSum = kMaxCount * kMaxBlocks;

  PostedSum* posted;         // [number % 2][value][block]
  unsigned long long* next;  // the number of the next sum
};

/// Those places in GPU memory, for kernels that run one after another.
class GridSumBuffer {
 public:
  GridSumBuffer() : posted_(2 * GridSumPlaces::kPerSum), next_(1) {
    zero_on_device(posted_.data(), posted_.bytes());
    constexpr unsigned long long kFirst = 1;
    copy_to_device(&kFirst, sizeof(kFirst), next_.data());
  }
  GridSumPlaces places() { return {posted_.data(), next_.data()}; }

 private:
  DeviceArray<PostedSum> posted_;
  DeviceArray<unsigned long long> next_;
};

/// Sums over all threads of a cooperative grid, the same bits on each of them: each block posts its
/// sum, and each adds those of all blocks in order as they come.
///
/// That takes half of the time of a barrier of the grid and a pass over partial sums, as the number
/// that is posted beside a sum says that it is there. But it is no barrier for anything else in
/// memory: what other threads have written before is not there to be read after it. Only what a
/// thread reads before, others may write after it.
template <int threads>
class GridSum {
 public:
  __device__ explicit GridSum(const GridSumPlaces& places)
      : places_(places), number_(*places.next) {}

  /// The sum of `mine`; all threads call it, of no more than kMaxBlocks blocks.
  template <int count>
  __device__ Sums<count> operator()(const Sums<count>& mine) {
    static_assert(count <= GridSumPlaces::kMaxCount);
    __shared__ Sums<count> total;
    // A block is at most one sum ahead of others, which still read those of the number before.
    PostedSum* const places = places_.posted + number_ % 2 * GridSumPlaces::kPerSum;
    const Sums<count> of_block = sum_over_block<threads>(mine);
    if (threadIdx.x == 0) {
#pragma unroll
      for (int i = 0; i < count; ++i) {
        post({of_block[i], number_}, places + i * GridSumPlaces::kMaxBlocks + blockIdx.x);
      }
    }
    Sums<count> sum;
    for (unsigned b = threadIdx.x; b < gridDim.x; b += threads) {
#pragma unroll
      for (int i = 0; i < count; ++i) sum[i] += wait(places + i * GridSumPlaces::kMaxBlocks + b);
    }
    sum = sum_over_block<threads>(sum);
    ++number_;
    if (threadIdx.x == 0) {
      total = sum;
      if (blockIdx.x == 0) *places_.next = number_;
    }
    __syncthreads();
    return total;
  }

 private:
  __device__ double wait(const PostedSum* from) const {
    PostedSum sum = posted(from);
    while (sum.number != number_) sum = posted(from);
    return sum.value;
  }

  GridSumPlaces places_;
  unsigned long long number_;
};

}  // namespace tessera
