// These are the arguments of the Kronecker kernels.
#pragma once

#include "operators/kronecker/device_data.hpp"

namespace tessera {

/// The matrices of a cell along x; `vertex` is the diagonal entry of a node between two cells.
/// Kernel parameters, so that the compiler reads them as constants.
template <class T, int P>
struct UnitMatrices {
  EntryPair<T> entries[distinct_entries(P)];
  EntryPair<T> vertex;
};

/// The diagonal entry of A at a node, from those of the 1D matrices at its place along each axis.
template <class T>
__device__ __forceinline__ T diagonal_entry(EntryPair<T> x, EntryPair<T> y, EntryPair<T> z,
                                            T reaction) {
  return (x.stiffness * y.mass + x.mass * y.stiffness) * z.mass +
         x.mass * y.mass * (z.stiffness + reaction * z.mass);
}

/// What a kernel gets, for any degree but that of the unit matrices.
template <class T, int P>
struct KroneckerArguments : KroneckerData<T> {
  UnitMatrices<T, P> unit;
  int layers_per_chunk;  // 3D: what a block goes through
  bool y_first;          // the grid's x counts tiles along y, and its y those along x

  __host__ KroneckerArguments(const KroneckerData<T>& data) : KroneckerData<T>(data) {
    for (int e = 0; e < distinct_entries(P); ++e) unit.entries[e] = data.unit[e];
    unit.vertex = data.vertex;
  }
};

}  // namespace tessera
