// A Jacobian is the derivative of a non-linear problem, applied without a matrix.
#pragma once

#include <type_traits>

#include "operators/nonlinear/device_drift.hpp"
#include "operators/nonlinear/drift.hpp"
#include "solvers/linear_operator.hpp"

namespace tessera {

/// The drift of forms in a memory.
template <class Space>
using DriftIn = std::conditional_t<std::is_same_v<Space, Host>, Drift, DeviceDrift>;

/// A + drift: the operator of a form at a state u, and what its coefficient's dependence on u adds.
/// Both are referred to. Not symmetric.
template <class Space>
class Jacobian final : public LinearOperator<double, Space> {
 public:
  using V = Vector<double, Space>;

  Jacobian(const LinearOperator<double, Space>& symmetric, const DriftIn<Space>& drift)
      : symmetric_(symmetric), drift_(drift) {}

  std::int64_t size() const override { return symmetric_.size(); }
  VectorLayout layout() const override { return symmetric_.layout(); }
  std::string name() const override { return symmetric_.name() + " + drift"; }
  void do_apply(const V& x, V& y) const override {
    symmetric_.apply(x, y);
    drift_.add(x, y);
  }
  /// That of the symmetric part: preconditioners are of it.
  void do_diagonal(V& d) const override { symmetric_.diagonal(d); }
  Cost cost() const override {
    const Cost one = symmetric_.cost();
    // v is read, y read and written.
    const double vectors = 3.0 * static_cast<double>(size()) * static_cast<double>(sizeof(double));
    return {one.bytes + static_cast<double>(drift_.bytes()) + vectors, one.flops + drift_.flops()};
  }
  std::int64_t bytes() const override { return symmetric_.bytes() + drift_.bytes(); }

 private:
  const LinearOperator<double, Space>& symmetric_;
  const DriftIn<Space>& drift_;
};

}  // namespace tessera
