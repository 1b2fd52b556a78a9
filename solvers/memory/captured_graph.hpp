// A CapturedGraph is a CUDA graph of launches that can be replayed.
#pragma once

#include <utility>

#include "solvers/memory/cuda_check.hpp"

namespace tessera {

/// An instantiated graph of what a function queues.
class CapturedGraph {
 public:
  /// Captures what enqueue() queues on device_stream(). @param name of the work in the messages of
  /// errors @throws DeviceError, what enqueue() throws
  template <class Enqueue>
  CapturedGraph(const char* name, Enqueue&& enqueue) : name_(name) {
    check_cuda(cudaStreamBeginCapture(device_stream(), cudaStreamCaptureModeThreadLocal), name);
    cudaGraph_t graph = nullptr;
    try {
      std::forward<Enqueue>(enqueue)();
    } catch (...) {
      cudaStreamEndCapture(device_stream(), &graph);
      cudaGraphDestroy(graph);
      cudaGetLastError();
      throw;
    }
    check_cuda(cudaStreamEndCapture(device_stream(), &graph), name);
    const cudaError_t status = cudaGraphInstantiate(&executable_, graph, 0);
    cudaGraphDestroy(graph);
    check_cuda(status, name);
  }
  ~CapturedGraph() { cudaGraphExecDestroy(executable_); }
  CapturedGraph(const CapturedGraph&) = delete;
  CapturedGraph& operator=(const CapturedGraph&) = delete;

  void replay() { check_cuda(cudaGraphLaunch(executable_, device_stream()), name_); }

 private:
  const char* name_;
  cudaGraphExec_t executable_ = nullptr;
};

}  // namespace tessera
