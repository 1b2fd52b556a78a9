// This hash makes numbers that look random from an index.
#pragma once

#include <cstdint>

namespace tessera {

/// A number in (-1/2, 1/2) that looks random but depends on the index alone (the finalizer of
/// MurmurHash3).
constexpr double hashed_value(std::int64_t i) {
  auto h = static_cast<std::uint64_t>(i) + 0x9e3779b97f4a7c15U;
  h = (h ^ (h >> 33U)) * 0xff51afd7ed558ccdU;
  h = (h ^ (h >> 33U)) * 0xc4ceb9fe1a85ec53U;
  h ^= h >> 33U;
  return (static_cast<double>(h >> 11U) + 0.5) * 0x1p-53 - 0.5;
}

}  // namespace tessera
