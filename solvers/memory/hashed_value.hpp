// This hash makes numbers that look random from an index.
#pragma once

#include <cstdint>

namespace tessera {

/// 64 bits that look random but depend on the index alone (the finalizer of MurmurHash3).
constexpr std::uint64_t hashed_bits(std::int64_t i) {
  auto h = static_cast<std::uint64_t>(i) + 0x9e3779b97f4a7c15U;
  h = (h ^ (h >> 33U)) * 0xff51afd7ed558ccdU;
  h = (h ^ (h >> 33U)) * 0xc4ceb9fe1a85ec53U;
  return h ^ (h >> 33U);
}

/// A number in (-1/2, 1/2) of these bits.
constexpr double hashed_value(std::int64_t i) {
  return (static_cast<double>(hashed_bits(i) >> 11U) + 0.5) * 0x1p-53 - 0.5;
}

}  // namespace tessera
