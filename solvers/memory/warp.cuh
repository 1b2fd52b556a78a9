// These are the lanes of a warp, and sums over them.
#pragma once

namespace tessera {

inline constexpr int kWarp = 32;  ///< lanes
inline constexpr unsigned kAllLanes = 0xffffffffU;

/// The sum over `lanes` neighboring lanes, a power of 2, on each of them and with the same bits.
/// For all lanes of the warp together.
template <class T>
__device__ __forceinline__ T sum_over_lanes(T mine, int lanes) {
  for (int step = lanes / 2; step > 0; step /= 2) mine += __shfl_xor_sync(kAllLanes, mine, step);
  return mine;
}
/// The same for a number of lanes that the compiler knows.
template <int lanes, class T>
__device__ __forceinline__ T sum_over_lanes(T mine) {
  return sum_over_lanes(mine, lanes);
}

}  // namespace tessera
