#pragma once

namespace tessera {

/// Degrees up to here have kernels whose loops are unrolled at compile time.
inline constexpr int kMaxFastDegree = 8;

}  // namespace tessera
