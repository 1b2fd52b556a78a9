// A Transfer moves vectors between two levels of a multigrid hierarchy.
#pragma once

#include "solvers/memory/vector.hpp"

namespace tessera {

/// The prolongation P from a coarser space to a finer one, and its transpose.
template <class T, class Space>
class Transfer {
 public:
  virtual ~Transfer() = default;

  /// coarse = P^T fine.
  virtual void restrict_to_coarse(const Vector<T, Space>& fine, Vector<T, Space>& coarse) const = 0;
  /// fine += P coarse.
  virtual void add_prolonged(const Vector<T, Space>& coarse, Vector<T, Space>& fine) const = 0;
  /// Memory that the transfer holds.
  virtual std::int64_t bytes() const = 0;
};

}  // namespace tessera
