// An OperatorOnRanks is the operator of a form of which each rank has a part.
#pragma once

#include <memory>
#include <stdexcept>
#include <type_traits>
#include <utility>
#include <vector>

#include "operators/form/on_all_ranks.hpp"
#include "operators/form/updatable.hpp"
#include "solvers/configuration.hpp"
#include "solvers/ranks/distributed_operator.hpp"
#include "solvers/ranks/fused_sums.hpp"

namespace tessera {

/// The planes of nodes that a rank exchanges with others.
inline std::vector<EntryPlane> exchanged_planes(const BilinearForm& form) {
  std::vector<EntryPlane> planes;
  for (int axis = 0; axis < form.discretization->mesh.dimension(); ++axis) {
    for (const SharedNodes& shared : form.part->rank->nodes().shared_planes(axis, form.dirichlet)) {
      planes.push_back({shared.nodes.first, shared.nodes.counts, shared.nodes.strides});
    }
  }
  return planes;
}

/// A DistributedOperator that becomes that of another form where the rank's own operator does. It
/// has fused operations where those of all ranks do. All ranks make and update it together.
template <class T, class Space>
class OperatorOnRanks final : public DistributedOperator<T, Space>,
                              public FusedOperations<T, Space>,
                              public Updatable {
 public:
  using V = Vector<T, Space>;

  OperatorOnRanks(std::unique_ptr<LinearOperator<T, Space>> local, const BilinearForm& form)
      : DistributedOperator<T, Space>(
            std::move(local), form.layout(),
            form.part->rank->template exchange<T, Space>(form.dirichlet)) {
    if (on_any_rank(this->layout(), this->local().fused() == nullptr)) return;
    has_step_ = std::is_same_v<Space, Device> &&
                !on_any_rank(this->layout(), !this->local().fused()->has_step());
    sums_ = on_all_ranks(form, [&] {
      return std::make_unique<const FusedSums<T, Space>>(this->layout(), exchanged_planes(form));
    });
  }

  const FusedOperations<T, Space>* fused() const override {
    return sums_ == nullptr ? nullptr : this;
  }
  void do_apply_dot(const V& x, V& y, double* sums) const override {
    sums_->apply_dot(*this->local().fused(), this->exchange(), x, y, sums);
  }
  bool takes_sums_along() const override { return std::is_same_v<Space, Device>; }
  void do_apply_dot_and_sum(const V& x, V& y, const double* mine, double* sums) const override {
    if constexpr (std::is_same_v<Space, Device>) {
      sums_->apply_dot(*this->local().fused(), this->exchange(), x, y, sums, mine);
    }
  }
  void do_residual(const V& b, const V& x, V& r, double* rr) const override {
    sums_->residual(*this->local().fused(), this->exchange(), b, x, r, rr);
  }
  bool has_step() const override { return has_step_; }
  void do_step(T scale, const V& d, const V& b, const V& x, V& y) const override {
    if constexpr (std::is_same_v<Space, Device>) {
      sums_->step(*this->local().fused(), this->exchange(), scale, d, b, x, y);
    }
  }
  std::int64_t bytes() const override {
    return DistributedOperator<T, Space>::bytes() + (sums_ == nullptr ? 0 : sums_->bytes());
  }

  Updated update(const BilinearForm& form) override {
    const Updated updated =
        on_all_ranks(form, [&] { return update_in_place(this->local(), form); });
    const FusedOperations<T, Space>* const fused = this->local().fused();
    const bool is_lost =
        sums_ != nullptr && (fused == nullptr || (has_step_ && !fused->has_step()));
    return on_any_rank(this->layout(), updated == Updated::no || is_lost) ? Updated::no
                                                                          : Updated::yes;
  }

 private:
  std::unique_ptr<const FusedSums<T, Space>> sums_;  // null: without fused operations
  bool has_step_ = false;                            // of all ranks
};

/// The operator of all ranks, of a part's form and the rank's own operator of it.
template <class T, class Space>
std::unique_ptr<LinearOperator<T, Space>> operator_on_ranks(
    std::unique_ptr<LinearOperator<T, Space>> local, const BilinearForm& form) {
  if constexpr (std::is_same_v<Space, Host> || kHasCuda) {
    return std::make_unique<OperatorOnRanks<T, Space>>(std::move(local), form);
  } else {
    throw std::logic_error("this build has no operators on GPUs");
  }
}

}  // namespace tessera
