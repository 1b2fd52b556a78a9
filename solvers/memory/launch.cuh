// This function launches a kernel as a record says.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "solvers/memory/cuda_check.hpp"

namespace tessera {

/// How a kernel is launched.
struct Launch {
  const char* name;  // what the launch is called in the message of an error
  dim3 blocks;
  dim3 threads;
  std::size_t shared_bytes = 0;  // dynamic shared memory of a block
  cudaStream_t stream = device_stream();
};

/// Queues kernel(arguments). The launch can be captured. @throws DeviceError
template <class... Parameters>
void launch(void (*kernel)(Parameters...), const Launch& as,
            const std::type_identity_t<Parameters>&... arguments) {
  kernel<<<as.blocks, as.threads, as.shared_bytes, as.stream>>>(arguments...);
  check_cuda(cudaGetLastError(), as.name);
}

/// CUDA's limit along x; kernels that may have more blocks than that stride.
inline constexpr std::int64_t kMaxGrid = std::numeric_limits<int>::max();

/// Blocks for so many items, a block for each `per_block` of them, but no more than `max_blocks`.
inline unsigned blocks_for(std::int64_t items, std::int64_t per_block,
                           std::int64_t max_blocks = std::numeric_limits<std::int64_t>::max()) {
  return static_cast<unsigned>(std::min((items + per_block - 1) / per_block, max_blocks));
}

/// The number of this thread in a grid of blocks of so many threads along x, and of all threads.
template <int threads>
__device__ inline std::int64_t thread_number() {
  return static_cast<std::int64_t>(blockIdx.x) * threads + threadIdx.x;
}
template <int threads>
__device__ inline std::int64_t thread_count() {
  return static_cast<std::int64_t>(gridDim.x) * threads;
}

/// Allows launches with so much dynamic shared memory a block, beyond what every kernel may have.
/// @throws DeviceError
template <class... Parameters>
void allow_shared_memory(void (*kernel)(Parameters...), std::int64_t bytes) {
  check_cuda(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                  static_cast<int>(bytes)),
             "asking for shared memory");
}

/// Blocks of a launch that the GPU holds at a time, at least one on each multiprocessor.
/// @throws DeviceError
template <class... Parameters>
int resident_blocks(void (*kernel)(Parameters...), int threads, std::size_t shared_bytes) {
  int blocks = 0;
  check_cuda(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, threads, shared_bytes),
             "asking how many blocks a multiprocessor holds");
  return std::max(1, blocks) * device_attribute(cudaDevAttrMultiProcessorCount);
}

}  // namespace tessera
