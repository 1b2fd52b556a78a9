// A NodeLattice numbers the nodes of a Q_p space, and is the only place that makes an index.
#pragma once

#include <cassert>
#include <type_traits>

#include "mesh/box_mesh.hpp"
#include "mesh/face.hpp"
#include "mesh/index_box.hpp"

namespace tessera {

/// Nodes along an axis of so many cells of this degree; T counts them.
template <class T>
constexpr T nodes_along(T cells, std::type_identity_t<T> degree) {
  return cells * degree + 1;
}

/// The nodes of Q_p on a box mesh: a lattice of (p n_x + 1)(p n_y + 1)(p n_z + 1) points, x
/// fastest.
///
/// A cell at (i_x, i_y, i_z) owns no index list: its node (i, j, k), 0 <= i, j, k <= p, is
/// first_node(cell) + offset(i, j, k).
class NodeLattice {
 public:
  NodeLattice(const BoxMesh& mesh, int degree);

  int dimension() const { return dimension_; }
  int degree() const { return degree_; }
  /// Extents and strides, for kernels.
  const IndexBox& nodes() const { return nodes_; }
  /// Length of a vector, which has an entry for every index.
  Index size() const { return nodes_.size(); }
  /// Number of nodes = DoFs.
  Index dof_count() const { return nodes_.count(); }
  /// Nodes along each axis; 1 for the third axis in 2D.
  const IndexTriple& extents() const { return nodes_.extents; }
  Index stride(int d) const {
    assert(0 <= d && d < 3);
    return nodes_.strides[d];
  }
  /// From a node to the one that is so many nodes further along each axis.
  Index offset(Index i, Index j, Index k) const { return nodes_.index(i, j, k); }

  /// Nodes of one cell, (p + 1)^d.
  int nodes_per_cell() const { return static_cast<int>(power(degree_ + 1, dimension_)); }

  Index first_node(const IndexTriple& cell) const {
    for (int d = 0; d < dimension_; ++d) {
      assert(0 <= cell[d] && degree_ * (cell[d] + 1) < nodes_.extents[d]);
    }
    return degree_ * nodes_.index(cell);
  }
  /// The node at a corner of a cell, which is at its upper end along axis d if bit d is set.
  Index corner_node(const IndexTriple& cell, int corner) const {
    return first_node(cell) + degree_ * offset(corner & 1, corner >> 1 & 1, corner >> 2 & 1);
  }
  /// The node at a vertex of the mesh, 0 <= vertex[d] <= cells along d.
  Index vertex_node(const IndexTriple& vertex) const {
    return node_index({degree_ * vertex[0], degree_ * vertex[1], degree_ * vertex[2]});
  }
  Index node_index(const IndexTriple& position) const {
    for (int d = 0; d < 3; ++d) assert(0 <= position[d] && position[d] < nodes_.extents[d]);
    return nodes_.index(position);
  }
  IndexTriple node_position(Index node) const {
    assert(0 <= node && node < size());
    return nodes_.position(node);
  }

  /// Whether the node at this lattice position lies on one of the faces.
  bool on_faces(const IndexTriple& position, FaceSet faces) const;

 private:
  int dimension_ = 0;
  int degree_ = 0;
  IndexBox nodes_;
};

/// The nodes of one face, as a rectangle in the lattice, a < counts[0], b < counts[1] (counts[1] =
/// 1 in 2D). A plain type, which GPU kernels take by value.
struct FaceNodes {
  Index first;
  std::array<int, 2> axes;
  std::array<Index, 2> counts;
  std::array<Index, 2> strides;

  constexpr Index count() const { return counts[0] * counts[1]; }
  /// Node (a, b).
  constexpr Index node(Index a, Index b) const { return first + a * strides[0] + b * strides[1]; }
};

FaceNodes face_nodes(const NodeLattice& lattice, int face);

}  // namespace tessera
