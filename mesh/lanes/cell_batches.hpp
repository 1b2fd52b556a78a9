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
  /// @param threads small meshes are cut finer where the thread with the most work then has less
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
    const IndexTriple& first = brick.first;
    const IndexTriple end = {first[0] + brick.count[0], first[1] + brick.count[1],
                             first[2] + brick.count[2]};
    const Index end_of_rows = first[0] + in_rows;
    IndexTriple cell = first;
    while (in_rows > 0 && cell[2] < end[2]) {
      for (int lane = 0; lane < lanes_; ++lane) {
        batch.cells[lane] = {cell[0] + lane, cell[1], cell[2]};
      }
      cell[0] += lanes_;
      if (cell[0] == end_of_rows) advance_line(first, end, cell);
      batch.next = cell[2] < end[2] ? cell : batch.cells[0];
      f(static_cast<const CellBatch&>(batch));
      ++batch.index;
    }
    batch.is_row = false;
    const IndexTriple first_left = {end_of_rows, first[1], first[2]};
    cell = first_left;
    for (Index left = (brick.count[0] - in_rows) * brick.count[1] * brick.count[2]; left > 0;
         left -= lanes_) {
      batch.active = static_cast<int>(std::min<Index>(lanes_, left));
      for (int lane = 0; lane < batch.active; ++lane) {
        batch.cells[lane] = cell;
        if (++cell[0] == end[0]) advance_line(first_left, end, cell);
      }
      std::fill(batch.cells.begin() + batch.active, batch.cells.begin() + lanes_,
                batch.cells[batch.active - 1]);
      f(static_cast<const CellBatch&>(batch));
      ++batch.index;
    }
  }

 private:
  // The first cell of the line after that of `cell`, of the lines first .. end - 1.
  static void advance_line(const IndexTriple& first, const IndexTriple& end, IndexTriple& cell) {
    cell[0] = first[0];
    if (++cell[1] < end[1]) return;
    cell[1] = first[1];
    ++cell[2];
  }

  int lanes_;
  Index batch_count_ = 0;
  std::vector<Brick> bricks_;
  std::vector<std::vector<Index>> colors_;
};

}  // namespace tessera
