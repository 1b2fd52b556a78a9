// This is the highest degree whose kernels are unrolled at compile time.
#pragma once

namespace tessera {

// CMake's cache variable of this name.
#ifndef TESSERA_UNROLLED_DEGREES
#define TESSERA_UNROLLED_DEGREES 8
#endif
#define TESSERA_QUOTE(text) #text
#define TESSERA_QUOTED_VALUE(name) TESSERA_QUOTE(name)

/// Degrees up to here have kernels whose loops are unrolled at compile time.
inline constexpr int kMaxFastDegree = TESSERA_UNROLLED_DEGREES;

/// "1-8", as a literal.
#define TESSERA_FAST_DEGREES "1-" TESSERA_QUOTED_VALUE(TESSERA_UNROLLED_DEGREES)

}  // namespace tessera
