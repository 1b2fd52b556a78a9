// These functions make fast diagonalization of a form of which ranks have parts.
#pragma once

#include <array>
#include <memory>

#include "operators/fast_diagonalization/fast_diagonalization.hpp"
#include "operators/fast_diagonalization/rank_layout.hpp"

namespace tessera {

/// B^-1 as FastDiagonalization says, of the whole: planes are multiplied by the modes of x and the
/// middle axis where they are, lines along the outer axis after all ranks have exchanged theirs,
/// and back. All ranks call this and its functions together. Results differ from those of one
/// process by rounding; ranks that share nodes have the same bits of them.
///
/// On GPUs all is queued, and can be captured, once it has run outside of a graph, where the
/// messages of the form's carrier can be.
/// @param separable of the whole form
/// @throws as make_fast_diagonalization(), on all ranks
template <class T, class Space>
std::unique_ptr<FastDiagonalization<T, Space>> make_fast_diagonalization_on_ranks(
    const BilinearForm& form, const NearestSeparable& separable);

/// The same on GPUs with lines in so many pieces, the same number on all ranks, which otherwise
/// follows from their size (line_pieces() of device_lines.hpp).
template <class T>
std::unique_ptr<FastDiagonalization<T, Device>> make_fast_diagonalization_in_pieces(
    const BilinearForm& form, const NearestSeparable& separable, int pieces);

/// What bytes() of one will be on a rank: on the host with the present number of OpenMP threads.
/// @param whole the lattice of the whole, dirichlet its faces
Index rank_fast_diagonalization_bytes(const NodeLattice& whole, FaceSet dirichlet,
                                      const std::array<AxisSymmetry, 3>& symmetry,
                                      const BoxPartition& partition, int rank, Index value_bytes,
                                      Processor processor);

}  // namespace tessera
