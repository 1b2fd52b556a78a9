// These parts of a KroneckerTile are for 2D, where a tile is one plane.
#pragma once

#include <cstdint>

#include "operators/kronecker/tiles/tile.cuh"

namespace tessera {

/// 2D: the tile's free nodes, by threads side by side along x.
template <int dimension, class Shape, KroneckerCells kind, KroneckerPass compiled>
template <KroneckerPass form>
__device__ __forceinline__ void KroneckerTile<dimension, Shape, kind, compiled>::store_plane() {
  constexpr int kRowsAtOnce = Shape::threads / Shape::width;
  constexpr int kRounds = (Shape::height - 1) / kRowsAtOnce + 1;
  const int column = threadIdx.x % Shape::width;
  const int first_row = threadIdx.x / Shape::width;
  const int x = cell_x * P + column;
  if (first_row >= kRowsAtOnce || !is_free(0, x)) return;
  const auto row_of = [&](int round) { return first_row + round * kRowsAtOnce; };
  const auto node_of = [&](int row) { return (cell_y * P + row) * g.nodes.strides[1] + x; };
  const auto stores = [&](int row) { return row < Shape::height && is_free(1, cell_y * P + row); };
  // All loads come before the first store, which they could not pass.
  Beside<form, T> beside[kRounds];
#pragma unroll
  for (int r = 0; r < kRounds; ++r) {
    if (stores(row_of(r))) beside[r] = load_beside<form>(g.v, node_of(row_of(r)));
  }
#pragma unroll
  for (int r = 0; r < kRounds; ++r) {
    const int row = row_of(r);
    if (!stores(row)) continue;
    store<form>(node_of(row), g.scale * plane_of_a()[row * Shape::row + column], beside[r]);
  }
}

template <int dimension, class Shape, KroneckerCells kind, KroneckerPass compiled>
template <Ends ends>
__device__ __forceinline__ void KroneckerTile<dimension, Shape, kind, compiled>::run_once() {
  const ItemY item = item_y();
  T w[Shape::window_y];
  load(item, 0, 1, w);
  y_pass<ends>(item, 0, 1, w);
  __syncthreads();
  x_pass_at_once<ends>();
  __syncthreads();
  with_form<compiled>(g.v, [&]<KroneckerPass form>() { store_plane<form>(); });
}

}  // namespace tessera
