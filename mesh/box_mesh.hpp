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

/// Some of the cells of a mesh: first[d] <= i_d < first[d] + counts[d] along each axis.
struct CellBox {
  IndexTriple first{0, 0, 0};
  IndexTriple counts{1, 1, 1};

  bool operator==(const CellBox&) const = default;
};

/// Where a mesh lies within a larger one: its first cell there, and the larger one's cells and
/// corners. Of a mesh that is no part, the mesh itself.
struct PlaceInWhole {
  IndexTriple first_cell{0, 0, 0};
  IndexTriple cells{1, 1, 1};
  Point lower{};
  Point upper{};
};

/// A box cut into n_x * n_y (* n_z) cells by lines across each axis; cells are numbered x fastest.
///
/// In 2D the third axis has one cell of zero extent, so loops over three axes serve both
/// dimensions.
///
/// A part of a mesh is a mesh, too. It computes its grid lines and widths as the whole does, so
/// that they have the same bits, and is uniform along the axes along which the whole is.
class BoxMesh {
 public:
  /// @param lines the grid lines of each axis; in 2D those of the third are ignored
  /// @throws std::invalid_argument unless dimension is 2 or 3, every used axis has at least one
  ///         cell and upper > lower, and lines that are given are cells + 1 numbers that increase
  ///         from lower to upper
  BoxMesh(int dimension, const IndexTriple& cells, const Point& lower, const Point& upper,
          std::array<GridLines, 3> lines = {});

  /// A part of a mesh, of which only the place is known; its own corners follow.
  /// @param lines of this part; axes without lines are uniform in the whole
  /// @throws std::invalid_argument unless the part has cells and lies within the whole
  BoxMesh(int dimension, const IndexTriple& cells, const PlaceInWhole& place,
          std::array<GridLines, 3> lines);

  /// The part of this mesh that has these cells.
  /// @throws std::invalid_argument unless the box has cells, and all are cells of this mesh
  BoxMesh part(const CellBox& box) const;
  const PlaceInWhole& place() const { return place_; }
  /// The position in the whole of a cell of this mesh.
  IndexTriple position_in_whole(const IndexTriple& position) const {
    IndexTriple result = position;
    for (int d = 0; d < 3; ++d) result[d] += place_.first_cell[d];
    return result;
  }

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
  PlaceInWhole place_;
  std::array<GridLines, 3> lines_;
};

}  // namespace tessera
