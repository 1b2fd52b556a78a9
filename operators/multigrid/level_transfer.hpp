// This function makes the transfer between two levels of a hierarchy, wherever ranks have them.
#pragma once

#include <memory>
#include <utility>

#include "operators/multigrid/hierarchy.hpp"
#include "operators/multigrid/lattice_transfer.hpp"
#include "operators/ranks/gathering_transfer.hpp"
#include "solvers/ranks/distributed_transfer.hpp"

namespace tessera {

/// What values of the coarser level have on constrained nodes: 0, as corrections, or any.
enum class ConstrainedValues { zero, any };

/// P by 1D matrices between what a rank has of level l + 1 and of level l.
inline LatticeProlongation make_prolongation(const Hierarchy& hierarchy, std::size_t l,
                                             ConstrainedValues values) {
  const BilinearForm& fine = hierarchy.form(l);
  const GatheredSpace* const gather = hierarchy.gather_from(l);
  const Discretization& coarse =
      gather != nullptr ? gather->cover() : *hierarchy.form(l + 1).discretization;
  FaceSet masked;
  if (values == ConstrainedValues::zero) {
    masked = gather != nullptr ? fine.part->dirichlet & gather->cover_faces() : fine.dirichlet;
  }
  return make_prolongation(coarse, *fine.discretization, masked);
}

/// P and P^T between levels l + 1 and l.
template <class T, class Space>
std::unique_ptr<const Transfer<T, Space>> make_transfer(const Hierarchy& hierarchy, std::size_t l,
                                                        ConstrainedValues values) {
  auto local =
      std::make_unique<const LatticeTransfer<T, Space>>(make_prolongation(hierarchy, l, values));
  const BilinearForm& fine = hierarchy.form(l);
  if (fine.part == nullptr) return local;
  const RankPart& rank = *fine.part->rank;
  if (const GatheredSpace* const gather = hierarchy.gather_from(l)) {
    return std::make_unique<const GatheringTransfer<T, Space>>(
        std::move(local), fine.layout(),
        WholeSum<T, Space>(rank.ranks(), rank.carrier(), gather->nodes()));
  }
  const RankPart& coarse = *hierarchy.form(l + 1).part->rank;
  return std::make_unique<const DistributedTransfer<T, Space>>(
      std::move(local), fine.layout(), coarse.template exchange<T, Space>({}));
}

}  // namespace tessera
