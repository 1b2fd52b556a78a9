// An IndexBox numbers the places of a box, x fastest.
#pragma once

#include "mesh/index.hpp"

namespace tessera {

/// A box of extents[0] x extents[1] x extents[2] places in memory: place (i, j, k) has the index
/// i + j strides[1] + k strides[2]. Rows may have gaps behind them, planes have none:
/// strides[d + 1] = extents[d] strides[d] for d > 0. A plain type, which GPU kernels take by value.
struct IndexBox {
  IndexTriple extents{1, 1, 1};
  std::array<Index, 4> strides{1, 1, 1, 1};

  IndexBox() = default;
  /// Without gaps.
  constexpr explicit IndexBox(const IndexTriple& counts) : extents(counts) {
    for (int d = 0; d < 3; ++d) strides[d + 1] = extents[d] * strides[d];
  }

  /// Number of places.
  constexpr Index count() const { return extents[0] * extents[1] * extents[2]; }
  /// Length of an array with an entry for every index, gaps included.
  constexpr Index size() const { return strides[3]; }
  /// Of a place, or how far place (i, j, k) of a box within this one lies after its first place.
  constexpr Index index(Index i, Index j, Index k) const {
    return i + j * strides[1] + k * strides[2];
  }
  constexpr Index index(const IndexTriple& place) const {
    return index(place[0], place[1], place[2]);
  }
  /// The place that has this index.
  constexpr IndexTriple position(Index index) const {
    const Index row = index / strides[1];
    return {index % strides[1], row % extents[1], row / extents[1]};
  }
};

}  // namespace tessera
