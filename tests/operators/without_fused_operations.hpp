// This wrapper hides the fused operations of an operator.
#pragma once

#include "solvers/linear_operator.hpp"

namespace tessera::testing {

/// The same operator, without its fused forms.
class WithoutFusedOperations final : public LinearOperator<double, Host> {
 public:
  explicit WithoutFusedOperations(const LinearOperator<double, Host>& inner) : inner_(inner) {}

  std::int64_t size() const override { return inner_.size(); }
  void do_apply(const HostVector<double>& x, HostVector<double>& y) const override {
    inner_.apply(x, y);
  }
  void do_diagonal(HostVector<double>& d) const override { inner_.diagonal(d); }
  Cost cost() const override { return inner_.cost(); }
  std::int64_t bytes() const override { return inner_.bytes(); }

 private:
  const LinearOperator<double, Host>& inner_;
};

}  // namespace tessera::testing
