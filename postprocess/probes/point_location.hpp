// A PointLocator finds the cell that a point lies in, and where in it.
#pragma once

#include <optional>
#include <vector>

#include "mesh/cell_locator.hpp"
#include "mesh/discretization.hpp"
#include "mesh/element/line_basis.hpp"
#include "postprocess/probes/cell_boxes.hpp"

namespace tessera {

/// Finds points in a mesh by inverting the map of its cells. In a box with straight grid lines that
/// is a division; in a mapped mesh Newton's method on the polynomial map of each cell whose box
/// holds the point.
class PointLocator {
 public:
  /// What a thread needs beside the locator, to be used again.
  using Scratch = std::vector<Index>;

  /// A place in a cell.
  struct Found {
    CellPoint place;
    /// How far the point is from there, in lengths of the cell; 0 if it is there but for rounding.
    double beyond;
  };

  /// @param discretization is referred to
  explicit PointLocator(const Discretization& discretization);
  /// @param largest of the mesh that the discretization's is a part of, as largest_coordinate()
  PointLocator(const Discretization& discretization, double largest);

  /// The place of a physical point; nothing if it is outside, by more than rounding: 1e-12 of the
  /// largest coordinate of the mesh. On a face that cells share it is in one of them. A point of
  /// the curved boundary of a domain may be outside the polynomial cells that stand for it: a
  /// point outside a mapped mesh by less than 0.02 / 4^(p - 1) of the cell's length is at the
  /// boundary.
  std::optional<CellPoint> find(const Point& x, Scratch& scratch) const;
  /// The same with the distance: of several parts of a mesh that have a place for the point, the
  /// one where it is nearest has it.
  std::optional<Found> locate(const Point& x, Scratch& scratch) const;
  /// The largest magnitude of a coordinate in physical space, in the units of the frame: what the
  /// digits of a point are digits of.
  static double largest_coordinate(const Discretization& discretization);

  /// Bytes of a locator in a mapped mesh.
  static Index bytes_in_mapped(const IndexTriple& cells) { return CellBoxes::bytes(cells); }

 private:
  std::optional<Found> find_in_box(const Point& X) const;
  // Where Newton's method ends, in the cell or a little beyond it, and how far from X that is.
  struct Inverse {
    Point reference;
    double distance;
  };
  template <class StartIn>
  std::optional<Found> find_in_cells(const std::vector<Index>& cells, const Point& X,
                                     StartIn start_in) const;
  Inverse invert(Index cell, const Point& X, Point reference) const;
  // In the discretization's own coordinates; with derivatives[a][b] = dX_a / dxi_b.
  Point map(Index cell, const Point& reference, std::array<Point, 3>& derivatives) const;
  // Of the node that is nearest to X.
  Point nearest_node(Index cell, const Point& X) const;

  const Discretization& discretization_;
  CellLocator in_box_;
  LineBasis basis_;
  double tolerance_;  // in the discretization's own coordinates
  double slack_;      // of the length of a cell
  std::optional<CellBoxes> boxes_;
};

}  // namespace tessera
