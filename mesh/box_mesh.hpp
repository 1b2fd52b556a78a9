// A BoxMesh is a box that grid lines across each axis cut into cells.
#pragma once

#include <array>
#include <cassert>
#include <vector>

#include "mesh/index_box.hpp"

namespace tessera {

/// The positions of the cells + 1 grid lines along an axis, increasing; no lines mean equal cells.
using GridLines = std::vector<double>;

/// The grid lines of cells each of which is `ratio` times as wide as the one before it:
/// x_i = lower + (upper - lower) (ratio^i - 1) / (ratio^cells - 1). Ratio 1 gives equal cells.
/// @throws std::invalid_argument unless ratio > 0 and there is at least one cell
GridLines geometric_lines(double lower, double upper, Index cells, double ratio);

/// A box cut into n_x * n_y (* n_z) cells by lines across each axis; cells are numbered x fastest.
///
/// In 2D the third axis has one cell of zero extent, so loops over three axes serve both
/// dimensions.
class BoxMesh {
 public:
  /// @param lines the grid lines of each axis; in 2D those of the third are ignored
  /// @throws std::invalid_argument unless dimension is 2 or 3, every used axis has at least one
  ///         cell and upper > lower, and lines that are given are cells + 1 numbers that increase
  ///         from lower to upper
  BoxMesh(int dimension, const IndexTriple& cells, const Point& lower, const Point& upper,
          std::array<GridLines, 3> lines = {});

  int dimension() const { return dimension_; }
  const IndexTriple& cells() const { return cells_; }
  Index cell_count() const { return IndexBox(cells_).count(); }
  const Point& lower() const { return lower_; }
  const Point& upper() const { return upper_; }

  /// Whether the cells along axis d are equal; without an argument, whether all cells are.
  bool is_uniform(int d) const { return lines_[d].empty(); }
  bool is_uniform() const { return is_uniform(0) && is_uniform(1) && is_uniform(2); }
  /// Position along axis d of grid line i, 0 <= i <= cells()[d]; exact at both ends.
  double grid_line(int d, Index i) const;
  /// Edge length along axis d of the cells between grid lines c and c + 1.
  double cell_width(int d, Index c) const;

  /// Cell number from its position, c = i_x + n_x (i_y + n_y i_z).
  Index cell_index(const IndexTriple& position) const {
    for (int d = 0; d < 3; ++d) assert(0 <= position[d] && position[d] < cells_[d]);
    return IndexBox(cells_).index(position);
  }
  IndexTriple cell_position(Index cell) const {
    assert(0 <= cell && cell < cell_count());
    return IndexBox(cells_).position(cell);
  }

 private:
  int dimension_;
  IndexTriple cells_;
  Point lower_;
  Point upper_;
  std::array<GridLines, 3> lines_;
};

}  // namespace tessera
