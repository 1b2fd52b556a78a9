// A GatheredSpace is the whole of a space on every rank, made from the ranks' parts of a finer one.
#pragma once

#include "mesh/coarsening.hpp"
#include "mesh/lanes/host_array.hpp"
#include "operators/ranks/rank_part.hpp"

namespace tessera {

/// The whole of a space on every rank, made from the ranks' parts of a finer one, or of the same.
/// A cut may run through its cells.
///
/// Every rank has all of it, as one process has: on a mapped mesh 8 bytes per node and axis, while
/// it is made as many from each of the ranks, and then what operators on it take. So it is for
/// levels that are small. What is gathered has the same bits on all ranks, which call make() and
/// gathered() together.
class GatheredSpace {
 public:
  /// @param fine the discretization of the rank's part, referred to
  /// @param part that part; its communicator must outlive this object
  /// @param shape of the whole space
  GatheredSpace(const Discretization& fine, const RankPart& part, const LevelShape& shape);

  /// The whole space.
  Discretization make() const;
  /// Functions of the finer space at the nodes of the whole space, [nodes].
  /// @param values at the nodes of the rank's part
  HostArray<double> gathered(const double* values) const;

  /// The space on those cells that the cells of the rank's part lie in, without a map; and its
  /// nodes among all.
  const Discretization& cover() const { return cover_; }
  const NodesInWhole& nodes() const { return nodes_; }
  /// The faces of those cells that lie on the domain's boundary, where the part itself may not.
  FaceSet cover_faces() const;

 private:
  const Discretization& fine_;
  const Communicator& ranks_;
  Discretization whole_;  // without a map
  Discretization cover_;
  NodesInWhole nodes_;
  // The nodes of the cover that this rank evaluates, every node of the whole being one of one rank.
  IndexTriple first_;
  IndexTriple end_;
};

}  // namespace tessera
