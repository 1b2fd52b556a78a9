// This function tells which columns of a row a warp stores, so that it stores whole sectors.
#pragma once

#include <cstdint>

#include "operators/kronecker/warps/shapes.hpp"

namespace tessera {

/// Columns [first, end) from a place on.
struct ColumnRange {
  int first;
  int end;
};

/// Of a row of `vector` whose tile begins at place `tile`, the columns from there on that the tile
/// stores: `count`, from the first that begins a sector on. The first tile of a row has the sector
/// before as well, which may begin before the row.
///
/// Memory is written by sectors of 32 bytes, which the rows of a lattice do not begin with: a
/// sector that two warps write half of costs as much as two or three. Writing alone goes at 200 to
/// 240 billion doubles a second instead of 310, a copy at 120 to 155 instead of 175 (one H100, rows
/// of 479 nodes, tiles of 32 columns).
template <class T>
__device__ __forceinline__ ColumnRange whole_sectors(const T* vector, std::int64_t tile, int count,
                                                     int tile_number) {
  constexpr unsigned kValues = kSectorBytes / sizeof(T);
  const auto base = static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(vector) / sizeof(T));
  const auto at = base + static_cast<unsigned>(tile);
  const auto begins = static_cast<int>(-at % kValues);
  return {tile_number == 0 ? begins - static_cast<int>(kValues) : begins, begins + count};
}

}  // namespace tessera
