#pragma once

#include "solvers/cuda_check.hpp"
#include "solvers/device_iteration.hpp"

namespace tessera {

/// An instantiated graph of some iterations.
class IterationGraph {
 public:
  /// Captures `iterations`, a multiple of what a call queues.
  IterationGraph(int iterations, DeviceIteration& iteration) : iterations_(iterations) {
    check_cuda(cudaStreamBeginCapture(device_stream(), cudaStreamCaptureModeThreadLocal),
               "beginning the capture of an iteration");
    cudaGraph_t graph = nullptr;
    try {
      for (int i = 0; i < iterations; i += iteration.iterations_a_call()) iteration.enqueue();
    } catch (...) {
      cudaStreamEndCapture(device_stream(), &graph);
      cudaGraphDestroy(graph);
      cudaGetLastError();
      throw;
    }
    check_cuda(cudaStreamEndCapture(device_stream(), &graph), "capturing an iteration");
    const cudaError_t status = cudaGraphInstantiate(&executable_, graph, 0);
    cudaGraphDestroy(graph);
    check_cuda(status, "instantiating the graph of an iteration");
  }
  ~IterationGraph() { cudaGraphExecDestroy(executable_); }
  IterationGraph(const IterationGraph&) = delete;
  IterationGraph& operator=(const IterationGraph&) = delete;

  int iterations() const { return iterations_; }
  void replay() {
    check_cuda(cudaGraphLaunch(executable_, device_stream()), "launching an iteration");
  }

 private:
  int iterations_;
  cudaGraphExec_t executable_ = nullptr;
};

/// A copy of the state in page-locked memory, on its way from the GPU.
class StateCopy {
 public:
  StateCopy() {
    check_cuda(cudaMallocHost(&state_, sizeof(IterationState)), "allocating page-locked memory");
    check_cuda(cudaEventCreateWithFlags(&arrived_, cudaEventDisableTiming), "creating an event");
  }
  ~StateCopy() {
    // A copy may be on its way where an observer threw.
    cudaStreamSynchronize(device_stream());
    cudaFreeHost(state_);
    if (arrived_ != nullptr) cudaEventDestroy(arrived_);
  }
  StateCopy(const StateCopy&) = delete;
  StateCopy& operator=(const StateCopy&) = delete;

  void enqueue(const IterationState* on_device) {
    check_cuda(cudaMemcpyAsync(state_, on_device, sizeof(IterationState), cudaMemcpyDeviceToHost,
                               device_stream()),
               "copying the state of an iteration from the GPU");
    check_cuda(cudaEventRecord(arrived_, device_stream()), "recording an event");
  }
  const IterationState& wait() {
    check_cuda(cudaEventSynchronize(arrived_), "waiting for an iteration on the GPU");
    return *state_;
  }

 private:
  IterationState* state_ = nullptr;
  cudaEvent_t arrived_ = nullptr;
};

}  // namespace tessera
