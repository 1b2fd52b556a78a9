// A CellLocator finds the cell that a box point lies in.
#pragma once

#include "mesh/box_mesh.hpp"

namespace tessera {

/// A place in a mesh: a cell, and the reference coordinates in it, each in [0, 1].
struct CellPoint {
  IndexTriple cell{0, 0, 0};
  Point xi{0.0, 0.0, 0.0};
};

/// Finds the cell that a box point lies in.
class CellLocator {
 public:
  /// @param mesh is referred to
  explicit CellLocator(const BoxMesh& mesh);

  /// The cell along axis d that has this box coordinate, and the reference coordinate in it: at a
  /// grid line either of its cells, outside the box the end of the nearest cell, and of NaN the
  /// first end.
  void find(int d, double coordinate, CellPoint& point) const;
  CellPoint operator()(const Point& box) const;

 private:
  const BoxMesh& mesh_;
  std::array<double, 3> cells_per_length_{};  // of equal cells
};

}  // namespace tessera
