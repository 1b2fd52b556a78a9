#pragma once

#include "solvers/vector.hpp"

namespace tessera {

/// A few steps of an iteration for A x = b that damp what varies from node to node, as multigrid
/// needs them on each level.
template <class T, class Space>
class Smoother {
 public:
  virtual ~Smoother() = default;

  /// Steps that start at x = 0; what x held before does not matter.
  virtual void smooth_from_zero(const Vector<T, Space>& b, Vector<T, Space>& x) const = 0;
  /// Steps that start at x.
  virtual void smooth(const Vector<T, Space>& b, Vector<T, Space>& x) const = 0;
};

}  // namespace tessera
