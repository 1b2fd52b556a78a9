// PartNodes are the nodes of one rank's part: among those of the whole, shared with others, owned.
#pragma once

#include <array>
#include <optional>
#include <vector>

#include "mesh/node_lattice.hpp"
#include "mesh/partition/box_partition.hpp"

namespace tessera {

/// A plane of nodes that two ranks share.
struct SharedNodes {
  int neighbor;     // the other rank
  FaceNodes nodes;  // of this rank's lattice, a face of the part or some of its lines
};

/// The nodes of a box of a mesh's cells, among those of the whole mesh.
class NodesInWhole {
 public:
  NodesInWhole(const BoxMesh& whole, const CellBox& cells, int degree);

  /// The lattice of the box.
  const NodeLattice& lattice() const { return lattice_; }
  /// The lattice of the whole, and the node there of the box's first one: node (i, j, k) of the box
  /// is first_in_whole() + whole().offset(i, j, k).
  const NodeLattice& whole() const { return whole_; }
  Index first_in_whole() const { return first_in_whole_; }
  Index in_whole(Index node) const {
    const IndexTriple at = lattice_.node_position(node);
    return first_in_whole_ + whole_.offset(at[0], at[1], at[2]);
  }

  /// Copies values at the whole's nodes to the box's.
  template <class T>
  void copy_to_part(const T* whole, T* part) const {
    for_each_node({0, 0, 0}, lattice_.extents(),
                  [&](Index there, Index here) { part[here] = whole[there]; });
  }
  /// Copies values at the box's nodes to the whole's.
  template <class From, class To>
  void copy_to_whole(const From* part, To* whole) const {
    copy_to_whole({0, 0, 0}, lattice_.extents(), part, whole);
  }
  /// Copies values at the box's nodes first[d] <= i_d < end[d] to the whole's.
  template <class From, class To>
  void copy_to_whole(const IndexTriple& first, const IndexTriple& end, const From* part,
                     To* whole) const {
    for_each_node(first, end, [&](Index there, Index here) { whole[there] = part[here]; });
  }

 private:
  // Calls f(node in the whole, node in the box) for nodes of the box.
  template <class F>
  void for_each_node(const IndexTriple& first, const IndexTriple& end, F&& f) const {
    for (Index k = first[2]; k < end[2]; ++k) {
      for (Index j = first[1]; j < end[1]; ++j) {
        for (Index i = first[0]; i < end[0]; ++i) {
          f(first_in_whole_ + whole_.offset(i, j, k), lattice_.offset(i, j, k));
        }
      }
    }
  }

  NodeLattice lattice_;
  NodeLattice whole_;
  Index first_in_whole_;
};

/// The nodes of one rank's part.
class PartNodes : public NodesInWhole {
 public:
  /// @param whole the mesh that the partition is of
  PartNodes(const BoxPartition& partition, int rank, const BoxMesh& whole, int degree);

  /// The planes that the rank shares along an axis, the lower one first, without the nodes on faces
  /// of the part that are left out. Both sharers have the same nodes in the same order.
  std::vector<SharedNodes> shared_planes(int axis, FaceSet left_out) const;
  /// The nodes that others own, each once: the shared lower planes.
  std::vector<FaceNodes> not_owned() const;
  /// How many nodes the rank owns.
  Index owned_count() const;

  /// Copies values at the nodes that the rank owns to the whole's.
  template <class From, class To>
  void copy_owned_to_whole(const From* part, To* whole) const {
    copy_to_whole(first_owned(), lattice().extents(), part, whole);
  }

 private:
  IndexTriple first_owned() const;

  std::array<std::optional<int>, 6> neighbors_;  // by face
};

}  // namespace tessera
