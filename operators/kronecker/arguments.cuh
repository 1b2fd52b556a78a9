// These are the arguments of the Kronecker kernels.
#pragma once

#include <cstdint>

#include "operators/kronecker/constrained_nodes.cuh"
#include "operators/kronecker/device_data.hpp"
#include "operators/kronecker/layer_chunks.hpp"

namespace tessera {

/// The matrices of a cell; `vertex` is the diagonal entry of a node between two cells. Kernel
/// parameters, so that the compiler reads them as constants.
template <class T, int P>
struct UnitMatrices {
  EntryPair<T> entries[distinct_entries(P)];
  EntryPair<T> vertex;
};

/// The matrices of a cell, symmetric under reversal, by halves: with e_k = u_k + u_{p-k} (e_{p/2} =
/// u_{p/2} for even p) and o_k = u_k - u_{p-k}, (A u)_i = (E e)_i + (O o)_i and (A u)_{p-i} =
/// (E e)_i - (O o)_i.
template <class T, int P>
struct HalfMatrices {
  static constexpr int even_count = P / 2 + 1;
  static constexpr int odd_count = (P + 1) / 2;
  EntryPair<T> even[even_count][even_count];
  EntryPair<T> odd[odd_count][odd_count];

  __host__ explicit HalfMatrices(const EntryPair<T>* distinct) {
    const auto entry = [&](int i, int j) { return distinct[distinct_entry(P, i, j)]; };
    for (int i = 0; i < even_count; ++i) {
      for (int k = 0; k < even_count; ++k) {
        const EntryPair<T> a = entry(i, k);
        const EntryPair<T> b = entry(i, P - k);
        even[i][k] = {(a.mass + b.mass) / 2, (a.stiffness + b.stiffness) / 2};
        if (i == odd_count || k == odd_count) continue;  // The middle node has no odd half.
        odd[i][k] = {(a.mass - b.mass) / 2, (a.stiffness - b.stiffness) / 2};
      }
    }
  }
};

/// The blocks of a launch, counted along x: first those that go through constrained nodes, then
/// those with tiles, x fastest, then y, then chunks of layers.
struct KroneckerGrid {
  ConstrainedNodes constrained;
  int cells_of_tile = 1;  // along x, in the kernel by tiles
  unsigned tiles_x = 1;
  unsigned tiles_y = 1;
  unsigned chunks = 1;

  __host__ std::int64_t blocks() const {
    return constrained.blocks + static_cast<std::int64_t>(tiles_x) * tiles_y * chunks;
  }
};

/// The diagonal entry of A at a node, from those of the 1D matrices at its place along each axis.
template <class T>
__device__ __forceinline__ T diagonal_entry(EntryPair<T> x, EntryPair<T> y, EntryPair<T> z,
                                            T reaction) {
  return (x.stiffness * y.mass + x.mass * y.stiffness) * z.mass +
         x.mass * y.mass * (z.stiffness + reaction * z.mass);
}

/// What a kernel gets, for any degree but that of the unit matrices.
///
/// Along y, unless stiffness takes differences, `unit_y` has ratio K + reaction M for the stiffness
/// of cells that are alike.
template <class T, int P>
struct KroneckerArguments : KroneckerData<T> {
  UnitMatrices<T, P> unit;
  UnitMatrices<T, P> unit_y;
  EntryPair<T> beyond_y;
  HalfMatrices<T, P> half_z;
  LayerChunks chunks;      // that blocks go through, in 3D
  int tiles_of_block = 1;  // that they go through along y, in 2D
  KroneckerGrid grid;

  __host__ explicit KroneckerArguments(const KroneckerData<T>& data)
      : KroneckerData<T>(data), half_z(data.unit_z) {
    const auto along_y = [&](EntryPair<T> e) {
      if (kTakesDifferences<T>) return e;
      return EntryPair<T>{e.mass, data.ratio * e.stiffness + data.reaction * e.mass};
    };
    for (int e = 0; e < distinct_entries(P); ++e) {
      unit.entries[e] = data.unit[e];
      unit_y.entries[e] = along_y(data.unit[e]);
    }
    unit.vertex = data.vertex;
    unit_y.vertex = along_y(data.vertex);
    beyond_y = along_y(data.beyond);
  }
};

}  // namespace tessera
