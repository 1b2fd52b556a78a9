// A NodeLattice numbers the nodes of a Q_p space, and is the only place that makes an index.
#pragma once

#include <cassert>

#include "mesh/box_mesh.hpp"
#include "mesh/face.hpp"
#include "mesh/index.hpp"

namespace tessera {

/// The nodes of Q_p on a box mesh: a lattice of (p n_x + 1)(p n_y + 1)(p n_z + 1) points, x
/// fastest.
///
/// A cell at (i_x, i_y, i_z) owns no index list: its node (i, j, k), 0 <= i, j, k <= p, is
/// first_node(cell) + i + j stride(1) + k stride(2).
class NodeLattice {
 public:
  NodeLattice(const BoxMesh& mesh, int degree);

  int dimension() const { return dimension_; }
  int degree() const { return degree_; }
  /// Number of nodes = DoFs.
  Index size() const { return extents_[0] * extents_[1] * extents_[2]; }
  /// Nodes along each axis; 1 for the third axis in 2D.
  const IndexTriple& extents() const { return extents_; }
  Index stride(int d) const {
    assert(0 <= d && d < 3);
    return d == 0 ? 1 : d == 1 ? extents_[0] : extents_[0] * extents_[1];
  }

  /// Nodes of one cell, (p + 1)^d.
  int nodes_per_cell() const { return static_cast<int>(power(degree_ + 1, dimension_)); }

  Index first_node(const IndexTriple& cell) const {
    for (int d = 0; d < dimension_; ++d) {
      assert(0 <= cell[d] && degree_ * (cell[d] + 1) < extents_[d]);
    }
    return degree_ * (cell[0] + stride(1) * cell[1] + stride(2) * cell[2]);
  }
  /// The node at a vertex of the mesh, 0 <= vertex[d] <= cells along d.
  Index vertex_node(const IndexTriple& vertex) const {
    for (int d = 0; d < dimension_; ++d) {
      assert(0 <= vertex[d] && degree_ * vertex[d] < extents_[d]);
    }
    return degree_ * (vertex[0] + stride(1) * vertex[1] + stride(2) * vertex[2]);
  }
  Index node_index(const IndexTriple& position) const {
    for (int d = 0; d < 3; ++d) assert(0 <= position[d] && position[d] < extents_[d]);
    return position[0] + extents_[0] * (position[1] + extents_[1] * position[2]);
  }
  IndexTriple node_position(Index node) const;

  /// Whether the node at this lattice position lies on one of the faces.
  bool on_faces(const IndexTriple& position, FaceSet faces) const;

 private:
  int dimension_ = 0;
  int degree_ = 0;
  IndexTriple extents_;
};

/// The nodes of one face, as a rectangle in the lattice: node (a, b) is first + a strides[0] +
/// b strides[1], a < counts[0], b < counts[1] (counts[1] = 1 in 2D).
struct FaceNodes {
  Index first;
  std::array<int, 2> axes;
  std::array<Index, 2> counts;
  std::array<Index, 2> strides;
};

FaceNodes face_nodes(const NodeLattice& lattice, int face);

}  // namespace tessera
