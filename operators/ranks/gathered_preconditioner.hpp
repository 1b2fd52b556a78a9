// A GatheredPreconditioner applies a preconditioner of the whole to vectors that ranks share.
#pragma once

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "operators/ranks/rank_part.hpp"
#include "solvers/preconditioner.hpp"

namespace tessera {

/// z = R_r M r: every rank has M of the whole, applies it to all of r, and takes its own entries.
template <class T>
class GatheredPreconditioner final : public Preconditioner<T, Host> {
 public:
  /// @param whole M, which gives the same bits on all ranks
  /// @param part of the rank; its communicator must outlive this object
  GatheredPreconditioner(std::unique_ptr<const Preconditioner<T, Host>> whole, const RankPart& part)
      : inner_(std::move(whole)),
        ranks_(part.ranks()),
        nodes_(part.nodes()),
        sums_(static_cast<std::size_t>(inner_->size())),
        r_(inner_->size()),
        z_(inner_->size()) {
    TESSERA_CHECK(nodes_.whole().size() == inner_->size());
  }

  std::int64_t size() const override { return nodes_.lattice().size(); }
  void do_apply(const HostVector<T>& r, HostVector<T>& z) const override {
    std::fill(sums_.begin(), sums_.end(), 0.0);
    nodes_.copy_owned_to_whole(r.data(), sums_.data());
    ranks_.sum(sums_);
    for (Index i = 0; i < r_.size(); ++i) r_[i] = static_cast<T>(sums_[i]);
    inner_->apply(r_, z_);
    nodes_.copy_to_part(z_.data(), z.data());
  }

 private:
  std::unique_ptr<const Preconditioner<T, Host>> inner_;
  const Communicator& ranks_;
  PartNodes nodes_;
  mutable std::vector<double> sums_;
  mutable HostVector<T> r_;
  mutable HostVector<T> z_;
};

}  // namespace tessera
