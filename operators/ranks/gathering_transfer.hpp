// A GatheringTransfer moves vectors between the parts of a level and the whole of a coarser one.
#pragma once

#include <memory>
#include <utility>

#include "operators/ranks/whole_sum.hpp"
#include "solvers/ranks/plane_exchange.hpp"
#include "solvers/transfer.hpp"

namespace tessera {

/// P and P^T between a level that is shared out and a coarser one that every rank has as a whole:
/// small levels cost more to exchange than to compute, so that all ranks compute them, with the
/// same bits.
template <class T, class Space = Host>
class GatheringTransfer final : public Transfer<T, Space> {
 public:
  using V = Vector<T, Space>;

  /// @param local between the rank's part of the finer level and the coarser cells that its own lie
  ///        in, of which a cut may run through some
  /// @param fine the layout of the finer level's vectors
  /// @param coarse the nodes of those cells in the coarser level
  GatheringTransfer(std::unique_ptr<const Transfer<T, Space>> local, VectorLayout fine,
                    WholeSum<T, Space> coarse)
      : local_(std::move(local)),
        whole_(std::move(coarse)),
        summand_(std::move(fine)),
        coarse_part_(whole_.box_size()) {
    TESSERA_CHECK(local_->fine_size() == summand_.size());
    TESSERA_CHECK(local_->coarse_size() == coarse_part_.size());
  }

  /// Entries of the whole coarser level.
  std::int64_t coarse_size() const override { return whole_.whole_size(); }
  std::int64_t fine_size() const override { return local_->fine_size(); }
  void do_restrict_to_coarse(const V& fine, V& coarse) const override {
    copy(fine, summand_);
    clear_not_owned(summand_);
    local_->restrict_to_coarse(summand_, coarse_part_);
    whole_.sum(coarse_part_, coarse);
  }
  void do_add_prolonged(const V& coarse, V& fine) const override {
    whole_.take(coarse, coarse_part_);
    local_->add_prolonged(coarse_part_, fine);
  }
  std::int64_t bytes() const override {
    return local_->bytes() + whole_.bytes() +
           (summand_.size() + coarse_part_.size()) * static_cast<std::int64_t>(sizeof(T));
  }

 private:
  std::unique_ptr<const Transfer<T, Space>> local_;
  WholeSum<T, Space> whole_;
  mutable V summand_;  // of the finer level
  mutable V coarse_part_;
};

}  // namespace tessera
