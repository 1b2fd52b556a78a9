// A LaunchTimer times launches of kernels that a graph holds.
#pragma once

#include <cuda_runtime.h>

#include <string>
#include <vector>

#include "solvers/memory/captured_graph.hpp"
#include "solvers/memory/device_array.hpp"
#include "src/launches/driver_calls.hpp"
#include "src/launches/launch_report.hpp"

namespace tessera {

/// A kernel's node. Its arguments live in the graph that it was found in.
struct CapturedKernel {
  cudaGraphNode_t node;
  CUDA_KERNEL_NODE_PARAMS params;
  CUfunction function;
  /// A counter that is set before each launch, or none.
  std::vector<cudaMemsetParams> counters;

  [[nodiscard]] LaunchGrid grid() const {
    return {params.gridDimX, params.gridDimY, params.gridDimZ};
  }
  [[nodiscard]] int threads() const {
    return static_cast<int>(params.blockDimX * params.blockDimY * params.blockDimZ);
  }
};

/// The kernels of a graph and of the graphs in it, in sequence, and how many other nodes there are.
struct CapturedKernels {
  std::vector<CapturedKernel> kernels;
  int other_nodes = 0;
};
/// @throws DeviceError
[[nodiscard]] CapturedKernels kernels_of(const DriverCalls& driver, cudaGraph_t graph);

/// An attribute of a kernel, such as its registers. @throws DeviceError
[[nodiscard]] int attribute(const DriverCalls& driver, const CapturedKernel& kernel,
                            CUfunction_attribute which);

/// The name of a kernel as C++ has it. @throws DeviceError
[[nodiscard]] std::string kernel_name(const DriverCalls& driver, const CapturedKernel& kernel);

/// Times kernels and graphs; holds memory of twice the size of the L2 cache, which is overwritten
/// to empty that.
class LaunchTimer {
 public:
  /// @throws DeviceOutOfMemory, DeviceError
  explicit LaunchTimer(const DriverCalls& driver);

  /// Seconds of a launch with this grid, a mean over several in sequence.
  [[nodiscard]] double seconds(const CapturedKernel& kernel, const LaunchGrid& grid);
  /// The same of all that a graph holds.
  [[nodiscard]] double seconds(const CapturedGraph& graph);
  /// Seconds of one launch with this grid after the L2 cache was emptied: the median of several.
  [[nodiscard]] double cold_seconds(const CapturedKernel& kernel, const LaunchGrid& grid);

 private:
  const DriverCalls& driver_;
  DeviceArray<char> flush_;
};

}  // namespace tessera
