// A DistributedTransfer moves vectors between two levels that lie on all ranks.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>

#include "solvers/ranks/plane_exchange.hpp"
#include "solvers/transfer.hpp"

namespace tessera {

/// P and P^T between two levels that both are shared out, so that the ranks' cuts of the finer one
/// are cuts of the coarser one: P is the ranks' own, and P^T r = sum over ranks of P_r^T r, with
/// every entry of r counted by its owner.
template <class T, class Space>
class DistributedTransfer final : public Transfer<T, Space> {
 public:
  using V = Vector<T, Space>;

  /// @param local between the parts of this rank
  /// @param fine the layout of the finer level's vectors
  /// @param coarse of the coarser level, with all shared entries: a row that is the identity is
  ///        counted by one rank here, too
  DistributedTransfer(std::unique_ptr<const Transfer<T, Space>> local, VectorLayout fine,
                      PlaneExchange<T, Space> coarse)
      : local_(std::move(local)), exchange_(std::move(coarse)), summand_(std::move(fine)) {
    TESSERA_CHECK(local_->fine_size() == summand_.size());
  }

  std::int64_t coarse_size() const override { return local_->coarse_size(); }
  std::int64_t fine_size() const override { return local_->fine_size(); }
  void do_restrict_to_coarse(const V& fine, V& coarse) const override {
    copy(fine, summand_);
    clear_not_owned(summand_);
    local_->restrict_to_coarse(summand_, coarse);
    exchange_.add(coarse);
  }
  void do_add_prolonged(const V& coarse, V& fine) const override {
    local_->add_prolonged(coarse, fine);
  }
  std::int64_t bytes() const override {
    return local_->bytes() + exchange_.bytes() +
           summand_.size() * static_cast<std::int64_t>(sizeof(T));
  }

 private:
  std::unique_ptr<const Transfer<T, Space>> local_;
  PlaneExchange<T, Space> exchange_;
  mutable V summand_;
};

}  // namespace tessera
