// These functions call CUDA, and turn failures into exceptions.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <string>

#include "solvers/memory/device.hpp"

namespace tessera {

/// The stream of all GPU work of this thread; unlike the legacy default stream it can be captured.
inline cudaStream_t device_stream() { return cudaStreamPerThread; }

/// @throws DeviceError "<operation> failed: <reason>" unless the status is success.
inline void check_cuda(cudaError_t status, const char* operation) {
  if (status == cudaSuccess) return;
  // Otherwise the next launch would report the error once more.
  cudaGetLastError();
  throw DeviceError(std::string(operation) + " failed on the GPU: " + cudaGetErrorString(status) +
                    " (" + cudaGetErrorName(status) + ")");
}

/// A limit or property of the current GPU. @throws DeviceError
inline int device_attribute(cudaDeviceAttr attribute) {
  int device = 0;
  int value = 0;
  check_cuda(cudaGetDevice(&device), "asking for the current GPU");
  check_cuda(cudaDeviceGetAttribute(&value, attribute, device), "asking for a limit of the GPU");
  return value;
}

/// Queues a copy; for one from or to the host the memory there is to be page-locked, or the caller
/// has to wait. @throws DeviceError
inline void enqueue_copy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind,
                         const char* operation) {
  check_cuda(cudaMemcpyAsync(to, from, bytes, kind, device_stream()), operation);
}

/// Queues the event. @throws DeviceError
inline void record(cudaEvent_t event) {
  check_cuda(cudaEventRecord(event, device_stream()), "recording an event");
}

}  // namespace tessera
