// CellBatches order the cells of a mesh in bricks, and bricks in batches of one cell per SIMD lane.
#pragma once

#include <algorithm>
#include <array>
#include <span>
#include <vector>

#include "mesh/box_mesh.hpp"
#include "mesh/index.hpp"

namespace tessera {

/// The most cells that one batch can hold (16 floats in a 64-byte register).
inline constexpr int kMaxLanes = 16;

/// A brick of neighboring cells, which one thread works on at a time.
struct Brick {
  IndexTriple first;  // position of its first cell
  IndexTriple count;  // cells along each axis
  Index first_batch;  // its batches are numbered first_batch .. first_batch + batch_count - 1
  Index batch_count;
  int color;
};

/// Up to `lanes` cells of one brick that are worked on together, one cell per SIMD lane.
///
/// Lanes from `active` on repeat the last active cell: their values may be computed but must never
/// be added.
struct CellBatch {
  Index index;
  int active;
  bool is_row;       // all lanes active, cells[lane] = cells[0] + lane along x
  IndexTriple next;  // of a row: the first cell of the brick's next row batch, or its own if last
  std::array<IndexTriple, kMaxLanes> cells;
};

/// The cells of a box mesh in the order in which operators visit them: bricks of cells, sized so
/// that a brick's part of x and y stays in the L2 cache, each cut into batches of `lanes` cells.
///
/// Bricks are colored like cells in section 2.3.2 of the thesis,
/// color = (b_x mod 2) + 2 (b_y mod 2) + 4 (b_z mod 2): bricks of one color share no node.
class CellBatches {
 public:
  /// @param lanes cells per batch, 1 .. kMaxLanes
  /// @param bytes_per_cell what one cell adds to a brick's working set
  /// @param threads small meshes are cut finer so that every thread gets bricks of every color in
  ///         use
  CellBatches(const BoxMesh& mesh, int lanes, Index bytes_per_cell, int threads);

  int lanes() const { return lanes_; }
  Index batch_count() const { return batch_count_; }
  /// Bricks in lexicographic order.
  std::span<const Brick> bricks() const { return bricks_; }
  int color_count() const { return static_cast<int>(colors_.size()); }
  /// Numbers of the bricks of one color, increasing.
  std::span<const Index> bricks_of_color(int color) const { return colors_[color]; }

  /// How many cells of each line of the brick along x are in row batches, from its first cell on.
  Index cells_in_rows(const Brick& brick) const { return brick.count[0] / lanes_ * lanes_; }

  /// Calls f(const CellBatch&) for each batch of the brick: first rows of `lanes` neighbors along
  /// x, then the cells that are left at the ends of the rows. x is the fastest axis in both.
  template <class F>
  void for_each_batch(const Brick& brick, F&& f) const {
    CellBatch batch{brick.first_batch, lanes_, true, {}, {}};
    const Index in_rows = cells_in_rows(brick);
    const Index left = brick.count[0] - in_rows;
    const Index lines = brick.count[1] * brick.count[2];
    const auto cell = [&](Index x, Index line) -> IndexTriple {
      return {brick.first[0] + x, brick.first[1] + line % brick.count[1],
              brick.first[2] + line / brick.count[1]};
    };
    for (Index line = 0; line < lines; ++line) {
      for (Index x = 0; x < in_rows; x += lanes_, ++batch.index) {
        for (int lane = 0; lane < lanes_; ++lane) batch.cells[lane] = cell(x + lane, line);
        const bool ends_line = x + lanes_ == in_rows;
        batch.next = !ends_line         ? cell(x + lanes_, line)
                     : line + 1 < lines ? cell(0, line + 1)
                                        : batch.cells[0];
        f(static_cast<const CellBatch&>(batch));
      }
    }
    batch.is_row = false;
    for (Index i = 0; i < left * lines; i += lanes_, ++batch.index) {
      batch.active = static_cast<int>(std::min<Index>(lanes_, left * lines - i));
      for (int lane = 0; lane < lanes_; ++lane) {
        const Index end = i + std::min(lane, batch.active - 1);
        batch.cells[lane] = cell(in_rows + end % left, end / left);
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
