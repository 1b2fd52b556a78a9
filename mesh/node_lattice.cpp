// This file lays out the lattice, and finds the nodes that lie on a face.
#include "mesh/node_lattice.hpp"

namespace tessera {

NodeLattice::NodeLattice(const BoxMesh& mesh, int degree)
    : dimension_(mesh.dimension()), degree_(degree) {
  IndexTriple extents{1, 1, 1};
  for (int d = 0; d < dimension_; ++d) extents[d] = nodes_along(mesh.cells()[d], degree);
  nodes_ = IndexBox(extents);
}

bool NodeLattice::on_faces(const IndexTriple& position, FaceSet faces) const {
  for (int d = 0; d < dimension_; ++d) {
    if (faces[2 * d] && position[d] == 0) return true;
    if (faces[2 * d + 1] && position[d] == nodes_.extents[d] - 1) return true;
  }
  return false;
}

FaceNodes face_nodes(const NodeLattice& lattice, int face) {
  const int normal = face_axis(face);
  FaceNodes nodes{0, {0, 0}, {1, 1}, {0, 0}};
  if (is_upper_face(face)) {
    nodes.first = (lattice.extents()[normal] - 1) * lattice.stride(normal);
  }
  int tangential = 0;
  for (int d = 0; d < lattice.dimension(); ++d) {
    if (d == normal) continue;
    nodes.axes[tangential] = d;
    nodes.counts[tangential] = lattice.extents()[d];
    nodes.strides[tangential] = lattice.stride(d);
    ++tangential;
  }
  return nodes;
}

}  // namespace tessera
