// A SideStream has GPU work that goes on beside that of device_stream().
#pragma once

#include <memory>
#include <type_traits>

#include "solvers/memory/cuda_check.hpp"
#include "solvers/memory/cuda_owners.hpp"

namespace tessera {

/// A stream that goes on while device_stream() does, as far as neither waits for the other. Work
/// that device_stream() has waited for at last can be captured with its.
class SideStream {
 public:
  /// @throws DeviceError
  SideStream() : reached_(make_event()) {
    cudaStream_t stream = nullptr;
    check_cuda(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "creating a stream");
    stream_.reset(stream);
  }

  cudaStream_t get() const { return stream_.get(); }

  /// What is queued here from now on waits for all that is in device_stream() so far.
  /// @throws DeviceError
  void wait_for_main() const {
    record(reached_.get());
    check_cuda(cudaStreamWaitEvent(get(), reached_.get()), "waiting for a stream");
  }
  /// Marks what is queued here so far. @throws DeviceError
  void mark(const Event& event) const {
    check_cuda(cudaEventRecord(event.get(), get()), "recording an event");
  }
  /// What is queued in device_stream() from now on waits for a mark. @throws DeviceError
  static void let_main_wait(const Event& event) {
    check_cuda(cudaStreamWaitEvent(device_stream(), event.get()), "waiting for a stream");
  }

 private:
  struct Destroy {
    void operator()(cudaStream_t stream) const {
      // What it works in may be freed next.
      cudaStreamSynchronize(stream);
      cudaStreamDestroy(stream);
    }
  };

  std::unique_ptr<std::remove_pointer_t<cudaStream_t>, Destroy> stream_;
  Event reached_;
};

}  // namespace tessera
