// These functions say where compressed factors lie in memory.
#pragma once

#include "mesh/index.hpp"
#include "mesh/saturated.hpp"

namespace tessera {

/// Bits of a number in compressed factors.
enum class CompressedBits { b16 = 16, b21 = 21, b32 = 32, b42 = 42, b64 = 64 };

/// The bits of numbers in factors of this many bytes a value: where entries vary little in each
/// cell, where they vary more, and where an entry would err by too much with these, so that it is
/// not packed.
constexpr CompressedBits few_bits(Index value_bytes) {
  return value_bytes == 8 ? CompressedBits::b32 : CompressedBits::b16;
}
constexpr CompressedBits many_bits(Index value_bytes) {
  return value_bytes == 8 ? CompressedBits::b42 : CompressedBits::b21;
}
constexpr CompressedBits plain_bits(Index value_bytes) {
  return value_bytes == 8 ? CompressedBits::b64 : CompressedBits::b32;
}

/// Bytes of the six numbers of a point.
constexpr Index compressed_point_bytes(CompressedBits bits) {
  return bits == CompressedBits::b16   ? 12
         : bits == CompressedBits::b21 ? 16
         : bits == CompressedBits::b32 ? 24
         : bits == CompressedBits::b42 ? 32
                                       : 48;
}

/// Bytes of a cell's header: a word for each of six entries, and padding.
inline constexpr Index kCompressedHeaderBytes = 32;

/// Where the packed factors of a cell lie: cells come in groups, the headers of a group first, then
/// the points of all its cells, `steps` times `lanes` of them, lanes side by side.
///
/// In kernels with a thread a line (cells = 1) a lane is the line (x, z) along y, z slowest, and a
/// step is y. In kernels with a thread a plane, lanes are (cell, y), y fastest, and steps (z, x), x
/// fastest.
struct CompressedLayout {
  int cells;
  int points;  // an axis

  constexpr int lanes() const { return cells == 1 ? points * points : cells * points; }
  constexpr int steps() const { return cells == 1 ? points : points * points; }
  constexpr Index group_bytes(CompressedBits bits) const {
    const Index bytes = compressed_point_bytes(bits) * lanes() * steps();
    return cells * kCompressedHeaderBytes + ceil_div(bytes, 16) * 16;
  }
  constexpr Index bytes(CompressedBits bits, Index all_cells) const {
    return Saturated(ceil_div(all_cells, cells)) * group_bytes(bits);
  }
  /// Position of a point in steps * lanes; `local` is the cell's number in its group.
  constexpr int position(int local, int x, int y, int z) const {
    return cells == 1 ? y * lanes() + z * points + x
                      : (z * points + x) * lanes() + local * points + y;
  }
};

/// The layout that the tensor kernel of this degree wants in 3D.
constexpr CompressedLayout compressed_layout(int degree, int points) {
  // At p = 2 a thread has a plane of points, and a warp ten cells.
  constexpr int kWarp = 32;
  return degree == 2 ? CompressedLayout{kWarp / points, points} : CompressedLayout{1, points};
}

}  // namespace tessera
