// These types own page-locked memory and CUDA events.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <memory>
#include <type_traits>

#include "solvers/memory/cuda_check.hpp"

namespace tessera {

struct FreePinned {
  void operator()(void* memory) const { cudaFreeHost(memory); }
};
struct DestroyEvent {
  void operator()(cudaEvent_t event) const { cudaEventDestroy(event); }
};

/// Page-locked memory of the host. As a member it is freed even if a later step of its owner's
/// constructor throws.
using Pinned = std::unique_ptr<void, FreePinned>;
/// An event of CUDA.
using Event = std::unique_ptr<std::remove_pointer_t<cudaEvent_t>, DestroyEvent>;

/// Makes uninitialized page-locked memory. @throws DeviceError
inline Pinned make_pinned(std::size_t bytes) {
  void* memory = nullptr;
  check_cuda(cudaMallocHost(&memory, bytes), "allocating page-locked memory");
  return Pinned(memory);
}

/// Makes an event to wait for, which records no time. @throws DeviceError
inline Event make_event() {
  cudaEvent_t event = nullptr;
  check_cuda(cudaEventCreateWithFlags(&event, cudaEventDisableTiming), "creating an event");
  return Event(event);
}

}  // namespace tessera
