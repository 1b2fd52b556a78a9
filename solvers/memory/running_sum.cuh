// This function sums on the GPU all values that stand before each.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cub/device/device_scan.cuh>

#include "solvers/memory/cuda_check.hpp"
#include "solvers/memory/device_array.hpp"

namespace tessera {

/// Replaces each value by the sum of those before it: row lengths become row starts.
/// @throws DeviceError, DeviceOutOfMemory
inline void sum_preceding(DeviceArray<std::int64_t>& values) {
  std::size_t bytes = 0;
  const auto sum = [&](void* scratch) {
    return cub::DeviceScan::ExclusiveSum(scratch, bytes, values.data(), values.data(),
                                         values.size(), device_stream());
  };
  check_cuda(sum(nullptr), "sizing the sum of row lengths");
  DeviceArray<char> scratch(std::max<std::int64_t>(static_cast<std::int64_t>(bytes), 1));
  check_cuda(sum(scratch.data()), "summing row lengths");
}

}  // namespace tessera
