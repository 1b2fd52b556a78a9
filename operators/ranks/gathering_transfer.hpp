// A GatheringTransfer moves vectors between the parts of a level and the whole of a coarser one.
#pragma once

#include <memory>
#include <vector>

#include "mesh/partition/part_nodes.hpp"
#include "solvers/ranks/plane_exchange.hpp"
#include "solvers/transfer.hpp"

namespace tessera {

/// P and P^T between a level that is shared out and a coarser one that every rank has as a whole:
/// small levels cost more to exchange than to compute, so that all ranks compute them, with the
/// same bits.
template <class T>
class GatheringTransfer final : public Transfer<T, Host> {
 public:
  /// @param local between the rank's part of the finer level and the coarser cells that its own lie
  ///        in, of which a cut may run through some
  /// @param fine the layout of the finer level's vectors
  /// @param ranks must outlive this object
  /// @param coarse the nodes of those cells in the coarser level
  GatheringTransfer(std::unique_ptr<const Transfer<T, Host>> local, VectorLayout fine,
                    const Communicator& ranks, const NodesInWhole& coarse);

  /// Entries of the whole coarser level.
  std::int64_t coarse_size() const override { return part_.whole().size(); }
  std::int64_t fine_size() const override { return local_->fine_size(); }
  void do_restrict_to_coarse(const HostVector<T>& fine, HostVector<T>& coarse) const override;
  void do_add_prolonged(const HostVector<T>& coarse, HostVector<T>& fine) const override;
  std::int64_t bytes() const override;

 private:
  std::unique_ptr<const Transfer<T, Host>> local_;
  const Communicator& ranks_;
  NodesInWhole part_;
  mutable HostVector<T> summand_;  // of the finer level
  mutable HostVector<T> coarse_part_;
  mutable std::vector<double> whole_;  // of the coarser level
};

}  // namespace tessera
