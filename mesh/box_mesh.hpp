#pragma once

#include "mesh/index.hpp"

namespace tessera {

/// A box cut into n_x * n_y (* n_z) equal cells; cells are numbered x fastest.
///
/// In 2D the third axis has one cell of zero extent, so loops over three axes serve both
/// dimensions.
class BoxMesh {
 public:
  /// @throws std::invalid_argument unless dimension is 2 or 3, every used axis has at least one
  /// cell
  ///         and upper > lower.
  BoxMesh(int dimension, const IndexTriple& cells, const Point& lower, const Point& upper);

  int dimension() const { return dimension_; }
  const IndexTriple& cells() const { return cells_; }
  Index cell_count() const { return cells_[0] * cells_[1] * cells_[2]; }
  const Point& lower() const { return lower_; }
  const Point& upper() const { return upper_; }

  /// Edge length of a cell along axis d.
  double cell_width(int d) const {
    return (upper_[d] - lower_[d]) / static_cast<double>(cells_[d]);
  }
  /// Position along axis d of grid line i, 0 <= i <= cells()[d]; exact at both ends.
  double grid_line(int d, Index i) const;

  /// Cell number from its position, c = i_x + n_x (i_y + n_y i_z).
  Index cell_index(const IndexTriple& position) const {
    return position[0] + cells_[0] * (position[1] + cells_[1] * position[2]);
  }
  IndexTriple cell_position(Index cell) const;

 private:
  int dimension_;
  IndexTriple cells_;
  Point lower_;
  Point upper_;
};

}  // namespace tessera
