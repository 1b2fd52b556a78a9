// A CompressedLayout says where compressed factors lie in the GPU's memory.
#pragma once

#include "mesh/saturated.hpp"
#include "operators/tensor/compressed/bits.hpp"
#include "operators/tensor/sweeps/line_shapes.hpp"

namespace tessera {

/// What a thread of the kernel has of a cell.
enum class ThreadPart { line, plane };

/// Where the packed factors of a cell lie: cells come in groups, the headers of a group first, then
/// the points of all its cells, `steps` times `lanes` of them, lanes side by side.
///
/// In kernels with a thread a line a lane is the line along y at (x, cell, z), x fastest, and a
/// step is y. In kernels with a thread a plane, lanes are (y, cell), y fastest, and steps (x, z), x
/// fastest.
struct CompressedLayout {
  ThreadPart part;
  int cells;
  int points;  // an axis

  constexpr int lanes() const { return cells * (part == ThreadPart::line ? points : 1) * points; }
  constexpr int steps() const { return points * (part == ThreadPart::line ? 1 : points); }
  constexpr Index group_bytes(CompressedBits bits) const {
    const Index bytes = compressed_point_bytes(bits) * lanes() * steps();
    return cells * kCompressedHeaderBytes + ceil_div(bytes, 16) * 16;
  }
  constexpr Index bytes(CompressedBits bits, Index all_cells) const {
    return Saturated(ceil_div(all_cells, cells)) * group_bytes(bits);
  }
  /// Position of a point in steps * lanes; `local` is the cell's number in its group.
  constexpr int position(int local, int x, int y, int z) const {
    return part == ThreadPart::line ? y * lanes() + (z * cells + local) * points + x
                                    : (z * points + x) * lanes() + local * points + y;
  }
};

/// The layout that the tensor kernel of this degree wants in 3D.
constexpr CompressedLayout compressed_layout(int degree, int points, Index value_bytes) {
  // At p = 2 a thread has a plane of points, and a warp ten cells.
  constexpr int kWarp = 32;
  if (degree == 2) return {ThreadPart::plane, kWarp / points, points};
  if (!has_line_shape(points)) return {ThreadPart::line, 1, points};
  const LineShapeRow shape =
      value_bytes == 8 ? line_shape_row<double>(points, compressed_line_sweep<double>(points))
                       : line_shape_row<float>(points, compressed_line_sweep<float>(points));
  return {ThreadPart::line, shape.order == LineOrder::by_rows ? shape.cells : 1, points};
}

}  // namespace tessera
