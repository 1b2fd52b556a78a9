// A LinearOperator applies a square matrix, and knows its diagonal, cost and memory.
#pragma once

#include <cstdint>
#include <string>

#include "solvers/check.hpp"
#include "solvers/fused_operations.hpp"
#include "solvers/memory/vector.hpp"

namespace tessera {

/// The least traffic of one application, and the flops of its algorithm as it is implemented.
struct Cost {
  double bytes = 0.0;
  double flops = 0.0;
};

/// A square linear map on L-vectors.
///
/// An operator may own scratch memory, so that one call of apply() or diagonal() must have returned
/// before the next one begins. The program ends (check.hpp) if a call breaks this rule, if the size
/// of a vector is not size(), or if x is y: these are errors of the program.
template <class T, class Space>
class LinearOperator {
 public:
  virtual ~LinearOperator() = default;

  virtual std::int64_t size() const = 0;
  /// That of x and y; solvers make their vectors by it.
  virtual VectorLayout layout() const { return VectorLayout(size()); }
  /// The name of what computes A x, such as "tensor/coloring, stored". The objects that do the work
  /// compose it, not the table from which the operator was chosen.
  virtual std::string name() const { return "unnamed"; }
  /// y = A x; what y held before does not matter.
  void apply(const Vector<T, Space>& x, Vector<T, Space>& y) const {
    TESSERA_CHECK(x.size() == size());
    TESSERA_CHECK(y.size() == size());
    TESSERA_CHECK(&x != &y);
    const OneUseAtATime::Use use(guard_);
    do_apply(x, y);
  }
  /// d_i = A_ii.
  void diagonal(Vector<T, Space>& d) const {
    TESSERA_CHECK(d.size() == size());
    const OneUseAtATime::Use use(guard_);
    do_diagonal(d);
  }
  virtual Cost cost() const = 0;
  /// Memory that the operator holds beyond x and y.
  virtual std::int64_t bytes() const = 0;
  /// The operator's own fused operations, or null where it has none.
  virtual const FusedOperations<T, Space>* fused() const { return nullptr; }

  /// The work of apply() and diagonal(), which have checked the vectors; call those functions
  /// instead.
  virtual void do_apply(const Vector<T, Space>& x, Vector<T, Space>& y) const = 0;
  virtual void do_diagonal(Vector<T, Space>& d) const = 0;

 private:
  mutable OneUseAtATime guard_;
};

}  // namespace tessera
