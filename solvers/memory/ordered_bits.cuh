// These functions find extrema of floating-point numbers by atomic operations on integers.
#pragma once

#include <cstring>

#include "solvers/memory/warp.cuh"

namespace tessera {

/// Bits that are in the order of the numbers, and largest for NaN.
__device__ inline unsigned long long ordered_bits(double value) {
  if (isnan(value)) return ~0ULL;
  const auto bits = static_cast<unsigned long long>(__double_as_longlong(value));
  constexpr unsigned long long kSign = 1ULL << 63;
  return (bits & kSign) != 0 ? ~bits : bits | kSign;
}
inline double from_ordered_bits(unsigned long long ordered) {
  constexpr unsigned long long kSign = 1ULL << 63;
  const unsigned long long bits = (ordered & kSign) != 0 ? ordered & ~kSign : ~ordered;
  double value = 0.0;
  std::memcpy(&value, &bits, sizeof(value));
  return value;
}

/// *largest becomes at least the value of each lane of a warp, all of which call it.
__device__ inline void keep_largest(unsigned long long value, unsigned long long* largest) {
  for (int offset = kWarp / 2; offset > 0; offset /= 2) {
    value = max(value, __shfl_xor_sync(kAllLanes, value, offset));
  }
  if (threadIdx.x % kWarp == 0) atomicMax(largest, value);
}

}  // namespace tessera
