// This is the highest degree whose kernels are unrolled at compile time.
#pragma once

namespace tessera {

/// Degrees up to here have kernels whose loops are unrolled at compile time.
inline constexpr int kMaxFastDegree = 8;

}  // namespace tessera
