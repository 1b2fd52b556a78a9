// These loads tell the L2 cache what to give up first.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

namespace tessera {

/// What the L2 cache does with what is loaded: as it always does, or gives it up before all else.
enum class CacheUse { usual, first_to_go };

/// The policy that load_with() takes.
__device__ inline std::uint64_t cache_policy(CacheUse use) {
  std::uint64_t policy;
  if (use == CacheUse::usual) {
    asm("createpolicy.fractional.L2::evict_normal.b64 %0, 1.0;" : "=l"(policy));
  } else {
    asm("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(policy));
  }
  return policy;
}

/// A number that no thread writes during the kernel.
__device__ inline double load_with(const double* from, std::uint64_t policy) {
  double value;
  asm("ld.global.nc.L2::cache_hint.f64 %0, [%1], %2;" : "=d"(value) : "l"(from), "l"(policy));
  return value;
}
__device__ inline float load_with(const float* from, std::uint64_t policy) {
  float value;
  asm("ld.global.nc.L2::cache_hint.f32 %0, [%1], %2;" : "=f"(value) : "l"(from), "l"(policy));
  return value;
}

}  // namespace tessera
