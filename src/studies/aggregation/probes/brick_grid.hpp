// Bricks of cells, by which points are sorted.
#pragma once

namespace tessera {

/// The unit cube in n^3 equal cells, and bricks of neighboring cells, the last of a row maybe
/// smaller.
struct BrickGrid {
  int cells = 1;        ///< along an axis
  int brick_cells = 1;  ///< of a brick, along an axis

  constexpr int bricks_along() const { return (cells + brick_cells - 1) / brick_cells; }
  constexpr int bricks() const { return bricks_along() * bricks_along() * bricks_along(); }
  /// The cell along an axis that holds a coordinate; outside the cube the nearest.
  constexpr int cell_along(double x) const {
    const int cell = static_cast<int>(x * cells);
    return cell < 0 ? 0 : cell >= cells ? cells - 1 : cell;
  }
  /// The brick that holds a point, x fastest.
  constexpr unsigned brick_of(double x, double y, double z) const {
    const int i = cell_along(x) / brick_cells;
    const int j = cell_along(y) / brick_cells;
    const int k = cell_along(z) / brick_cells;
    return static_cast<unsigned>(i + bricks_along() * (j + bricks_along() * k));
  }
  /// The smallest bricks of which there are at most so many.
  static constexpr BrickGrid with_at_most(int cells, int max_bricks) {
    BrickGrid grid = {.cells = cells, .brick_cells = 1};
    while (grid.bricks() > max_bricks) ++grid.brick_cells;
    return grid;
  }
};

}  // namespace tessera
