#pragma once

#include "operators/device_kronecker_data.hpp"

namespace tessera {

/// The matrices of a cell along x; `vertex` is the diagonal entry of a node between two cells.
/// Kernel parameters, so that the compiler reads them as constants.
template <class T, int P>
struct UnitMatrices {
  EntryPair<T> entries[distinct_entries(P)];
  EntryPair<T> vertex;
};

/// What a kernel gets, for any degree but that of the unit matrices.
template <class T, int P>
struct KroneckerArguments : KroneckerData<T> {
  UnitMatrices<T, P> unit;
  int layers_a_chunk;  // 3D: what a block goes through

  __host__ KroneckerArguments(const KroneckerData<T>& data) : KroneckerData<T>(data) {
    for (int e = 0; e < distinct_entries(P); ++e) unit.entries[e] = data.unit[e];
    unit.vertex = data.vertex;
  }
};

}  // namespace tessera
