// A GatheredPreconditioner applies a preconditioner of the whole to vectors that ranks share.
#pragma once

#include <memory>
#include <utility>

#include "operators/ranks/rank_part.hpp"
#include "operators/ranks/whole_sum.hpp"
#include "solvers/preconditioner.hpp"

namespace tessera {

/// z = R_r M r: every rank has M of the whole, applies it to all of r, and takes its own entries.
template <class T, class Space = Host>
class GatheredPreconditioner final : public Preconditioner<T, Space> {
 public:
  using V = Vector<T, Space>;

  /// @param whole M, which gives the same bits on all ranks
  /// @param part of the rank; its communicator must outlive this object
  GatheredPreconditioner(std::unique_ptr<const Preconditioner<T, Space>> whole,
                         const RankPart& part)
      : inner_(std::move(whole)),
        sum_(part.ranks(), part.carrier(), part.nodes()),
        owned_(part.layout()),
        r_(inner_->size()),
        z_(inner_->size()) {
    TESSERA_CHECK(sum_.whole_size() == inner_->size());
  }

  std::int64_t size() const override { return owned_.size(); }
  void do_apply(const V& r, V& z) const override {
    copy(r, owned_);
    clear_not_owned(owned_);
    sum_.sum(owned_, r_);
    inner_->apply(r_, z_);
    sum_.take(z_, z);
  }

 private:
  std::unique_ptr<const Preconditioner<T, Space>> inner_;
  WholeSum<T, Space> sum_;
  mutable V owned_;
  mutable V r_;
  mutable V z_;
};

}  // namespace tessera
