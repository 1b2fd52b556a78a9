// A CellKernel is a local kernel behind a virtual call, for setup.
#pragma once

#include "mesh/lanes/cell_batches.hpp"
#include "mesh/lanes/simd.hpp"
#include "operators/cells/cell_kernel_limits.hpp"

namespace tessera {

/// A local kernel behind a virtual call: for setup, where the type of the kernel does not matter.
template <class T>
class CellKernel {
 public:
  virtual ~CellKernel() = default;

  virtual Index scratch_size() const = 0;
  /// v[i] = sum_j K_c[i][j] u[j] for the cells of a batch.
  virtual void apply(const CellBatch& batch, const Lanes<T>* u, Lanes<T>* v,
                     Lanes<T>* scratch) const = 0;
};

}  // namespace tessera
