// This file finds positions of nodes, and the nodes that lie on a face.
#include "mesh/node_lattice.hpp"

namespace tessera {

NodeLattice::NodeLattice(const BoxMesh& mesh, int degree)
    : dimension_(mesh.dimension()), degree_(degree), extents_{1, 1, 1} {
  for (int d = 0; d < dimension_; ++d) extents_[d] = mesh.cells()[d] * degree + 1;
}

IndexTriple NodeLattice::node_position(Index node) const {
  assert(0 <= node && node < size());
  const Index row = node / extents_[0];
  return {node % extents_[0], row % extents_[1], row / extents_[1]};
}

bool NodeLattice::on_faces(const IndexTriple& position, FaceSet faces) const {
  for (int d = 0; d < dimension_; ++d) {
    if (faces[2 * d] && position[d] == 0) return true;
    if (faces[2 * d + 1] && position[d] == extents_[d] - 1) return true;
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
