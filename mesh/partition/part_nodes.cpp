// This file finds the planes of nodes that ranks share.
#include "mesh/partition/part_nodes.hpp"

namespace tessera {
namespace {

enum class End { lower, upper };

// Takes the line of nodes at one end of an axis off, if the axis is one of the face's.
void take_off(FaceNodes& nodes, int axis, End end, int dimension) {
  for (int t = 0; t < dimension - 1; ++t) {
    if (nodes.axes[t] != axis) continue;
    if (end == End::lower) nodes.first += nodes.strides[t];
    --nodes.counts[t];
  }
}

}  // namespace

NodesInWhole::NodesInWhole(const BoxMesh& whole, const CellBox& cells, int degree)
    : lattice_(whole.part(cells), degree),
      whole_(whole, degree),
      first_in_whole_(whole_.vertex_node(cells.first)) {}

PartNodes::PartNodes(const BoxPartition& partition, int rank, const BoxMesh& whole, int degree)
    : NodesInWhole(whole, partition.cells(rank), degree) {
  for (int face = 0; face < face_count(partition.dimension()); ++face) {
    neighbors_[face] = partition.neighbor(rank, face);
  }
}

std::vector<SharedNodes> PartNodes::shared_planes(int axis, FaceSet left_out) const {
  const int dimension = lattice().dimension();
  std::vector<SharedNodes> planes;
  for (const int face : {2 * axis, 2 * axis + 1}) {
    if (!neighbors_[face]) continue;
    FaceNodes nodes = face_nodes(lattice(), face);
    for (int d = 0; d < dimension; ++d) {
      if (left_out[2 * d]) take_off(nodes, d, End::lower, dimension);
      if (left_out[2 * d + 1]) take_off(nodes, d, End::upper, dimension);
    }
    planes.push_back({*neighbors_[face], nodes});
  }
  return planes;
}

std::vector<FaceNodes> PartNodes::not_owned() const {
  std::vector<FaceNodes> planes;
  for (int d = 0; d < lattice().dimension(); ++d) {
    if (!neighbors_[2 * d]) continue;
    FaceNodes nodes = face_nodes(lattice(), 2 * d);
    for (int before = 0; before < d; ++before) {
      if (neighbors_[2 * before]) take_off(nodes, before, End::lower, lattice().dimension());
    }
    planes.push_back(nodes);
  }
  return planes;
}

Index PartNodes::owned_count() const {
  const IndexTriple first = first_owned();
  Index count = 1;
  for (int d = 0; d < 3; ++d) count *= lattice().extents()[d] - first[d];
  return count;
}

IndexTriple PartNodes::first_owned() const {
  IndexTriple first{0, 0, 0};
  for (int d = 0; d < lattice().dimension(); ++d) first[d] = neighbors_[2 * d] ? 1 : 0;
  return first;
}

}  // namespace tessera
