// DriverCalls are the functions of CUDA's driver that the runtime has no counterpart of: kernels of
// libraries have no symbol that the runtime would know them by.
#pragma once

#include <cuda.h>

#include <string>

#include "solvers/memory/cuda_check.hpp"

namespace tessera {

/// Entry points that are found when the program runs, so that nothing is linked with the driver's
/// library, which only machines with a GPU have.
struct DriverCalls {
  /// @throws DeviceError if the driver is older than CUDA 12.3 and lacks one
  DriverCalls();

  decltype(&cuGraphKernelNodeGetParams) kernel_node_params;
  decltype(&cuGraphAddKernelNode) add_kernel_node;
  decltype(&cuGraphKernelNodeCopyAttributes) copy_attributes;
  decltype(&cuKernelGetFunction) function_of_kernel;
  decltype(&cuFuncGetAttribute) function_attribute;
  decltype(&cuFuncGetName) function_name;
  decltype(&cuOccupancyMaxActiveBlocksPerMultiprocessor) blocks_per_multiprocessor;
};

/// @throws DeviceError unless the status is success
inline void check_driver(CUresult status, const char* operation) {
  if (status == CUDA_SUCCESS) return;
  throw DeviceError(std::string(operation) + " failed on the GPU: error " +
                    std::to_string(static_cast<int>(status)) + " of the driver");
}

}  // namespace tessera
