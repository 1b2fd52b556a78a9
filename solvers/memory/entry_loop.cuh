// This loop calls a function for every index on the GPU.
#pragma once

#include <cstdint>

#include "solvers/memory/launch.cuh"

namespace tessera {

/// Calls f(i) for every i < n. Launch: one thread per entry, up to a largest grid, which strides.
template <class F>
__global__ void for_each_kernel(std::int64_t n, F f) {
  const std::int64_t stride = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < n;
       i += stride) {
    f(i);
  }
}

/// Queues f(i) for every i < n.
/// @param name what the launch is called in the message of an error
template <class F>
void for_each_entry(std::int64_t n, const char* name, F f) {
  if (n == 0) return;
  constexpr int kThreads = 256;
  constexpr int kMaxBlocks = 1 << 16;
  launch(for_each_kernel<F>, {name, blocks_for(n, kThreads, kMaxBlocks), kThreads}, n, f);
}

}  // namespace tessera
