// A CapturedGraph is what a function would queue on the GPU, as a CUDA graph.
#pragma once

#include <cuda_runtime.h>

#include <memory>
#include <type_traits>

#include "solvers/memory/cuda_check.hpp"

namespace tessera {

struct DestroyGraph {
  void operator()(cudaGraph_t graph) const { cudaGraphDestroy(graph); }
};
struct DestroyExecutableGraph {
  void operator()(cudaGraphExec_t graph) const { cudaGraphExecDestroy(graph); }
};

/// A graph that can be changed, and one that can be launched.
using CapturedGraph = std::unique_ptr<std::remove_pointer_t<cudaGraph_t>, DestroyGraph>;
using ExecutableGraph =
    std::unique_ptr<std::remove_pointer_t<cudaGraphExec_t>, DestroyExecutableGraph>;

/// What work() queues on device_stream(), which is not run. @throws DeviceError, and what work()
/// throws
template <class Work>
CapturedGraph captured(Work&& work) {
  check_cuda(cudaStreamBeginCapture(device_stream(), cudaStreamCaptureModeThreadLocal),
             "beginning a capture");
  cudaGraph_t graph = nullptr;
  try {
    work();
  } catch (...) {
    cudaStreamEndCapture(device_stream(), &graph);
    cudaGraphDestroy(graph);
    cudaGetLastError();
    throw;
  }
  check_cuda(cudaStreamEndCapture(device_stream(), &graph), "capturing");
  return CapturedGraph(graph);
}

/// @throws DeviceError
inline ExecutableGraph executable(const CapturedGraph& graph) {
  cudaGraphExec_t executable = nullptr;
  check_cuda(cudaGraphInstantiate(&executable, graph.get(), 0), "instantiating a graph");
  return ExecutableGraph(executable);
}

/// Queues all of it. @throws DeviceError
inline void launch_graph(const ExecutableGraph& graph) {
  check_cuda(cudaGraphLaunch(graph.get(), device_stream()), "launching a graph");
}

}  // namespace tessera
