// A Smoother does a few steps of a stationary iteration.
#pragma once

#include "solvers/memory/vector.hpp"

namespace tessera {

/// A few steps of a stationary iteration for A x = b: x becomes x + M (b - A x), where M removes at
/// least the fast errors.
template <class T, class Space>
class Smoother {
 public:
  using V = Vector<T, Space>;

  virtual ~Smoother() = default;

  /// x = M b: the steps start from zero, whatever x held before.
  virtual void smooth_from_zero(const V& b, V& x) const = 0;
  /// x = x + M (b - A x): the steps start from what x holds.
  virtual void smooth(const V& b, V& x) const = 0;
};

}  // namespace tessera
