// An OperatorOnRanks is the operator of a form of which each rank has a part.
#pragma once

#include <memory>
#include <stdexcept>
#include <type_traits>
#include <utility>

#include "operators/form/on_all_ranks.hpp"
#include "operators/form/updatable.hpp"
#include "solvers/configuration.hpp"
#include "solvers/ranks/distributed_operator.hpp"

namespace tessera {

/// A DistributedOperator that becomes that of another form where the rank's own operator does. All
/// ranks update it together.
template <class T, class Space>
class OperatorOnRanks final : public DistributedOperator<T, Space>, public Updatable {
 public:
  using DistributedOperator<T, Space>::DistributedOperator;

  Updated update(const BilinearForm& form) override {
    const Updated updated =
        on_all_ranks(form, [&] { return update_in_place(this->local(), form); });
    return on_any_rank(this->layout(), updated == Updated::no) ? Updated::no : Updated::yes;
  }
};

/// The operator of all ranks, of a part's form and the rank's own operator of it.
template <class T, class Space>
std::unique_ptr<LinearOperator<T, Space>> operator_on_ranks(
    std::unique_ptr<LinearOperator<T, Space>> local, const BilinearForm& form) {
  if constexpr (std::is_same_v<Space, Host> || kHasCuda) {
    return std::make_unique<OperatorOnRanks<T, Space>>(
        std::move(local), form.layout(),
        form.part->rank->template exchange<T, Space>(form.dirichlet));
  } else {
    throw std::logic_error("this build has no operators on GPUs");
  }
}

}  // namespace tessera
