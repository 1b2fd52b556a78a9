// A Smoother does a few steps of a stationary iteration.
#pragma once

#include "solvers/memory/vector.hpp"

namespace tessera {

/// A few steps of a stationary iteration for A x = b: x becomes x + M (b - A x), where M removes
/// the fast errors at least.
template <class T, class Space>
class Smoother {
 public:
  using V = Vector<T, Space>;

  virtual ~Smoother() = default;

  /// x = M b, the steps from zero; what x held before does not matter.
  virtual void smooth_from_zero(const V& b, V& x) const = 0;
  /// x = x + M (b - A x), the steps from what x holds.
  virtual void smooth(const V& b, V& x) const = 0;
};

}  // namespace tessera
