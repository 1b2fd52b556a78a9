#pragma once

#include <array>
#include <span>
#include <vector>

#include "mesh/box_mesh.hpp"
#include "mesh/index.hpp"

namespace tessera {

/// The most cells that one batch can hold (16 floats in a 64-byte register).
inline constexpr int kMaxLanes = 16;

/// A brick of neighboring cells: what one thread works on at a time.
struct Brick {
  IndexTriple first;  // position of its first cell
  IndexTriple count;  // cells along each axis
  Index first_batch;  // its batches are numbered first_batch .. first_batch + batch_count - 1
  Index batch_count;
  int color;
};

/// Up to `lanes` cells of one brick that are worked on together, a cell a SIMD lane.
///
/// Lanes from `active` on repeat the last active cell: they may be computed, never be added.
struct CellBatch {
  Index index;
  int active;
  std::array<IndexTriple, kMaxLanes> cells;
};

/// The cells of a box mesh in the order in which operators visit them: bricks of cells, sized so
/// that a brick's part of x and y stays in the L2 cache, each cut into batches of `lanes` cells.
///
/// Bricks are colored like cells in section 2.3.2 of the thesis,
/// color = (b_x mod 2) + 2 (b_y mod 2) + 4 (b_z mod 2): bricks of one color share no node.
class CellBatches {
 public:
  /// @param lanes cells a batch, 1 .. kMaxLanes
  /// @param bytes_per_cell what one cell adds to a brick's working set
  /// @param threads small meshes are cut finer so that every thread gets bricks of every color in
  /// use
  CellBatches(const BoxMesh& mesh, int lanes, Index bytes_per_cell, int threads);

  int lanes() const { return lanes_; }
  Index batch_count() const { return batch_count_; }
  /// Bricks in lexicographic order.
  std::span<const Brick> bricks() const { return bricks_; }
  int color_count() const { return static_cast<int>(colors_.size()); }
  /// Numbers of the bricks of one color, increasing.
  std::span<const Index> bricks_of_color(int color) const { return colors_[color]; }

  /// Calls f(const CellBatch&) for each batch of the brick; cells run x fastest.
  template <class F>
  void for_each_batch(const Brick& brick, F&& f) const {
    CellBatch batch{brick.first_batch, 0, {}};
    IndexTriple offset{0, 0, 0};
    const Index last = brick.first_batch + brick.batch_count;
    for (; batch.index < last; ++batch.index) {
      batch.active = 0;
      for (int lane = 0; lane < lanes_; ++lane) {
        if (offset[2] == brick.count[2]) {
          batch.cells[lane] = batch.cells[batch.active - 1];
          continue;
        }
        batch.active = lane + 1;
        for (int d = 0; d < 3; ++d) batch.cells[lane][d] = brick.first[d] + offset[d];
        if (++offset[0] < brick.count[0]) continue;
        offset[0] = 0;
        if (++offset[1] < brick.count[1]) continue;
        offset[1] = 0;
        ++offset[2];
      }
      f(static_cast<const CellBatch&>(batch));
    }
  }

 private:
  int lanes_;
  Index batch_count_ = 0;
  std::vector<Brick> bricks_;
  std::vector<std::vector<Index>> colors_;
};

}  // namespace tessera
