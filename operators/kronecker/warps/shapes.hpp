// These tables are the launch shapes of the kernel whose warps carry columns of nodes through z.
#pragma once

#include <cstddef>
#include <iterator>

namespace tessera {

/// When a warp asks for the next plane of x: as soon as it has taken this one's values along y, or
/// when it is through with this one, which takes fewer registers, so that there are more warps.
enum class NextPlane { early, late };

/// How many cells a warp takes, and how many blocks a multiprocessor is to hold.
struct WarpShape {
  int cells_x;  // of a lane
  int cells_y;  // of a warp
  int warps;    // of a block
  int blocks;
  NextPlane next_plane;
};

/// By degree, from 1 on; as measured on an H100. At higher degrees a lane needs more registers than
/// leave enough warps.
inline constexpr WarpShape kWarpsDouble[] = {{2, 2, 4, 6, NextPlane::early},
                                             {1, 1, 4, 7, NextPlane::late}};
inline constexpr WarpShape kWarpsSingle[] = {{4, 2, 4, 6, NextPlane::early},
                                             {2, 1, 4, 5, NextPlane::early}};

constexpr bool has_warp_kernel(int dimension, int p, std::size_t value_bytes) {
  const std::size_t degrees =
      value_bytes == sizeof(double) ? std::size(kWarpsDouble) : std::size(kWarpsSingle);
  return dimension == 3 && p <= static_cast<int>(degrees);
}
constexpr WarpShape kronecker_warp(int p, std::size_t value_bytes) {
  return value_bytes == sizeof(double) ? kWarpsDouble[p - 1] : kWarpsSingle[p - 1];
}

/// What a warp has. Its lanes lie side by side along x; the first and the last are there for what
/// their neighbors need, and of the columns of the others `stored` ones are stored, which is all
/// but what whole sectors of memory (`sectors.cuh`) need at both ends.
struct WarpColumns {
  int of_lane;
  int rows;
  int window;  // rows that are read: those of the cells below, and one above
  int stored;
};
constexpr int kSectorBytes = 32;
constexpr WarpColumns warp_columns(int p, std::size_t value_bytes) {
  const WarpShape shape = kronecker_warp(p, value_bytes);
  const int columns = shape.cells_x * p;
  const int rows = shape.cells_y * p;
  const int sector = kSectorBytes / static_cast<int>(value_bytes);
  // Tiles begin at a cell, and all at the same place in a sector.
  int stored = 30 * columns - (sector - 1);
  while (stored % p != 0 || stored % sector != 0) --stored;
  return {columns, rows, rows + p + 1, stored};
}

}  // namespace tessera
