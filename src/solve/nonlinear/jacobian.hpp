// A Jacobian is the derivative of a non-linear problem, applied without a matrix.
#pragma once

#include "operators/nonlinear/drift.hpp"
#include "solvers/linear_operator.hpp"

namespace tessera {

/// A + drift: the operator of a form at a state u, and what its coefficient's dependence on u adds.
/// Both are referred to. Not symmetric.
class Jacobian final : public LinearOperator<double, Host> {
 public:
  Jacobian(const LinearOperator<double, Host>& symmetric, const Drift& drift)
      : symmetric_(symmetric), drift_(drift) {}

  std::int64_t size() const override { return symmetric_.size(); }
  VectorLayout layout() const override { return symmetric_.layout(); }
  std::string name() const override { return symmetric_.name() + " + drift"; }
  void do_apply(const HostVector<double>& x, HostVector<double>& y) const override {
    symmetric_.apply(x, y);
    drift_.add(x, y);
  }
  /// That of the symmetric part: preconditioners are of it.
  void do_diagonal(HostVector<double>& d) const override { symmetric_.diagonal(d); }
  Cost cost() const override {
    const Cost one = symmetric_.cost();
    // v is read, y read and written.
    const double vectors = 3.0 * static_cast<double>(size() * static_cast<Index>(sizeof(double)));
    return {one.bytes + static_cast<double>(drift_.bytes()) + vectors, one.flops + drift_.flops()};
  }
  std::int64_t bytes() const override { return symmetric_.bytes() + drift_.bytes(); }

 private:
  const LinearOperator<double, Host>& symmetric_;
  const Drift& drift_;
};

}  // namespace tessera
