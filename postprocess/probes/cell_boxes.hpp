// CellBoxes find the cells of a mapped mesh that may hold a point.
#pragma once

#include <array>
#include <vector>

#include "mesh/discretization.hpp"

namespace tessera {

/// A tree of boxes around the cells of a mapped mesh and, level by level, around blocks of twice as
/// many cells along each axis: a point is looked for in the few branches whose boxes hold it.
///
/// The box of a cell is that of its nodes and a quarter of its size on each side, for between nodes
/// a curved cell reaches beyond them: by an eighth at degree 2, and by less at higher ones.
class CellBoxes {
 public:
  /// Makes the boxes in parallel. @param discretization with a mapped mesh
  explicit CellBoxes(const Discretization& discretization);

  /// Puts the cells whose boxes hold the point into `cells`, that in whose box it is nearest to the
  /// middle first. @param cells overwritten; to be used again, so that nothing is allocated
  void find(const Point& x, std::vector<Index>& cells) const;

  /// Bytes of the boxes of so many cells along the axes.
  static Index bytes(const IndexTriple& cells);

 private:
  // Rounded outwards.
  struct Box {
    std::array<float, 3> lower;
    std::array<float, 3> upper;

    bool holds(const Point& x) const;
    // The largest distance from the middle along an axis, in halves of the extent.
    double eccentricity(const Point& x) const;
  };
  struct Level {
    IndexBox blocks;
    std::vector<Box> boxes;
  };

  static Box box_of(const Discretization& discretization, Index cell);

  std::vector<Level> levels_;  // from cells to one block
};

}  // namespace tessera
