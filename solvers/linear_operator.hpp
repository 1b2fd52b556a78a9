#pragma once

#include <cstdint>

#include "solvers/fused_forms.hpp"
#include "solvers/vector.hpp"

namespace tessera {

/// The least that one application can cost: memory traffic and floating-point operations.
struct Cost {
  double bytes = 0.0;
  double flops = 0.0;
};

/// A square linear map on L-vectors: x and y have size() entries and are not the same vector.
template <class T, class Space>
class LinearOperator {
 public:
  virtual ~LinearOperator() = default;

  virtual std::int64_t size() const = 0;
  /// y = A x; what y held before does not matter.
  virtual void apply(const Vector<T, Space>& x, Vector<T, Space>& y) const = 0;
  /// d_i = A_ii.
  virtual void diagonal(Vector<T, Space>& d) const = 0;
  virtual Cost cost() const = 0;
  /// Memory that the operator holds beyond x and y.
  virtual std::int64_t bytes() const = 0;
  /// The operator's own fused forms, or null where it has none.
  virtual const FusedForms<T, Space>* fused() const { return nullptr; }
};

}  // namespace tessera
