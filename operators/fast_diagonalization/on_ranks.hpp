// These functions make fast diagonalization of a form of which ranks have parts.
#pragma once

#include <array>
#include <memory>
#include <vector>

#include "mesh/partition/box_partition.hpp"
#include "operators/fast_diagonalization/fast_diagonalization.hpp"
#include "operators/ranks/box_exchange.hpp"

namespace tessera {

/// The boxes of free nodes, or of modes in their places, that each rank has at the stages of an
/// application, [rank]: what it owns of its part; planes along the outer axis; lines along that
/// axis; all that its part has.
struct InverseBoxes {
  std::vector<NodeBox> owned;
  std::vector<NodeBox> planes;
  std::vector<NodeBox> lines;
  std::vector<NodeBox> part;
};

/// @param free all free nodes. Where ranks have slabs along the outer axis (z, in 2D y) the planes
/// are those that a rank owns, elsewhere as many on each rank; so are lines, along y or in 2D x.
InverseBoxes inverse_boxes(const BoxPartition& partition, int degree, const NodeBox& free);

/// B^-1 as FastDiagonalization says, of the whole: planes are multiplied by the modes of x and the
/// middle axis where they are, lines along the outer axis after all ranks have exchanged theirs,
/// and back. All ranks call this and its functions together. Results differ from those of one
/// process by rounding; ranks that share nodes have the same bits of them.
/// @param separable of the whole form
template <class T>
std::unique_ptr<FastDiagonalization<T, Host>> make_fast_diagonalization_on_ranks(
    const BilinearForm& form, const NearestSeparable& separable);

/// What bytes() of one will be on a rank, with the present number of OpenMP threads.
/// @param whole the lattice of the whole, dirichlet its faces
Index rank_fast_diagonalization_bytes(const NodeLattice& whole, FaceSet dirichlet,
                                      const std::array<AxisSymmetry, 3>& symmetry,
                                      const BoxPartition& partition, int rank, Index value_bytes);

}  // namespace tessera
