// An IterationGraph is a CUDA graph of some iterations that can be replayed.
#pragma once

#include <chrono>
#include <optional>
#include <thread>

#include "solvers/krylov/device_iteration.hpp"
#include "solvers/memory/captured_graph.hpp"
#include "solvers/memory/cuda_check.hpp"
#include "solvers/memory/cuda_owners.hpp"

namespace tessera {

/// An instantiated graph of some iterations.
class IterationGraph {
 public:
  /// Captures this many iterations, a multiple of what one call queues.
  IterationGraph(int iterations, DeviceIteration& iteration)
      : iterations_(iterations),
        executable_(executable(captured([&] { iteration.enqueue_all(iterations); }))) {}

  int iterations() const { return iterations_; }
  void replay() { launch_graph(executable_); }

 private:
  int iterations_;
  ExecutableGraph executable_;
};

/// A copy of the state in page-locked memory, on its way from the GPU.
class StateCopy {
 public:
  StateCopy() : state_(make_pinned(sizeof(IterationState))), arrived_(make_event()) {}
  ~StateCopy() {
    // A copy may still be on its way if an observer threw.
    cudaStreamSynchronize(device_stream());
  }
  StateCopy(const StateCopy&) = delete;
  StateCopy& operator=(const StateCopy&) = delete;

  void enqueue(const IterationState* on_device) {
    enqueue_copy(state_.get(), on_device, sizeof(IterationState), cudaMemcpyDeviceToHost,
                 "copying the state of an iteration from the GPU");
    record(arrived_.get());
  }
  const IterationState& wait() {
    check_cuda(cudaEventSynchronize(arrived_.get()), "waiting for an iteration on the GPU");
    return *static_cast<const IterationState*>(state_.get());
  }
  /// The same, or null if it takes more seconds: what other ranks do not send never comes.
  const IterationState* wait_for(double seconds) {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
    while (true) {
      const cudaError_t status = cudaEventQuery(arrived_.get());
      if (status != cudaErrorNotReady) break;
      if (std::chrono::steady_clock::now() > deadline) return nullptr;
      std::this_thread::yield();
    }
    return &wait();
  }

 private:
  Pinned state_;
  Event arrived_;
};

/// The number of batches of iterations that are queued ahead of what the host has seen.
inline constexpr std::size_t kMaxBatchesInFlight = 2;

/// What a run of an iteration keeps for the next one.
struct RecordedIteration {
  StateCopy copies[kMaxBatchesInFlight];
  std::optional<IterationGraph> one;  // as much as one call queues
  std::optional<IterationGraph> several;
};

}  // namespace tessera
