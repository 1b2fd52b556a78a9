// A FaceQuadrature holds positions, weights and shape functions on one face of the box.
#pragma once

#include <vector>

#include "mesh/discretization.hpp"
#include "mesh/scalar_field.hpp"

namespace tessera {

/// The quadrature points of one face of the box: face cells x points, the point index fastest.
///
/// Face cell (a, b) has number a + cells[0] b and shares its nodes with the lattice rectangle of
/// face_nodes(): node (i, j) is nodes.node(p a + i, p b + j). In 2D there is one row, cells[1] = 1.
/// The first tangential axis is the fastest for points and nodes of a face cell.
struct FaceQuadrature {
  int face;
  int dimension;  // of the box
  FaceNodes nodes;
  std::array<Index, 2> cells;
  int points_per_cell;
  int nodes_per_cell;
  std::vector<double> x, y, z;  // physical positions
  std::vector<double> measure;  // weight times surface element
  std::vector<double> shape;    // phi_i at q on the reference face, [q][i]

  Index cell_count() const { return cells[0] * cells[1]; }
  PointBlock positions() const { return {x.size(), x.data(), y.data(), z.data()}; }
  /// Lattice indices of a face cell's nodes, [i].
  void cell_nodes(Index cell, int degree, Index* indices) const;
};

/// Makes the quadrature of a face by the discretization's own rule, or by the rule of a basis on
/// the same nodes.
FaceQuadrature make_face_quadrature(const Discretization& discretization, int face);
FaceQuadrature make_face_quadrature(const Discretization& discretization, const Basis1D& basis,
                                    int face);

}  // namespace tessera
