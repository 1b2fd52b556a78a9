// These parts of a KroneckerTile write y: at free nodes, and at constrained ones.
#pragma once

#include <cstdint>

#include "operators/kronecker/tile.cuh"

namespace tessera {

/// What the form wants at a node beside A x.
template <int dimension, class Shape, KroneckerCells kind, KroneckerPass compiled>
template <KroneckerPass form>
__device__ __forceinline__ auto KroneckerTile<dimension, Shape, kind, compiled>::load_other(
    std::int64_t node) const -> T {
  if constexpr (form == KroneckerPass::apply_dot) return __ldg(g.v.x + node);
  if constexpr (form == KroneckerPass::residual) return g.v.b[node];
  return T{0};
}

/// What the form makes of v = A x at a node.
template <int dimension, class Shape, KroneckerCells kind, KroneckerPass compiled>
template <KroneckerPass form>
__device__ __forceinline__ void KroneckerTile<dimension, Shape, kind, compiled>::store(
    std::int64_t node, T value, T other) {
  if constexpr (form == KroneckerPass::residual) {
    value = other - value;
    add_dots(value, value);
  }
  if constexpr (form == KroneckerPass::apply_dot) add_dots(other, value);
  g.v.y[node] = value;
}

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
  T other[kRounds];
#pragma unroll
  for (int r = 0; r < kRounds; ++r) {
    if (stores(row_of(r))) other[r] = load_other<form>(node_of(row_of(r)));
  }
#pragma unroll
  for (int r = 0; r < kRounds; ++r) {
    const int row = row_of(r);
    if (!stores(row)) continue;
    store<form>(node_of(row), g.scale * first[row * Shape::row + column], other[r]);
  }
}

template <int dimension, class Shape, KroneckerCells kind, KroneckerPass compiled>
template <typename KroneckerTile<dimension, Shape, kind, compiled>::Ends ends>
__device__ __forceinline__ void KroneckerTile<dimension, Shape, kind, compiled>::run_once() {
  y_pass<ends>(item_y(threadIdx.x), 0, 0, 1);
  __syncthreads();
  x_pass_at_once<ends>();
  __syncthreads();
  with_form([&]<KroneckerPass form>() { store_plane<form>(); });
}

/// The constrained nodes of the tile in the planes of the chunk, where A is the identity. The last
/// tile along an axis has the last node as well.
template <int dimension, class Shape, KroneckerCells kind, KroneckerPass compiled>
__device__ __forceinline__ void KroneckerTile<dimension, Shape, kind, compiled>::finish_constrained(
    Chunk chunk) {
  const bool has_last_plane = dimension == 2 || chunk.end_layer == g.axis[2].cells;
  const int first_z = dimension == 2 ? 0 : chunk.first_layer * P;
  const int end_z = has_last_plane ? g.axis[2].nodes : chunk.end_layer * P;
  const int tile_x = cell_x * P;
  const int tile_y = cell_y * P;
  const auto end = [](int size, const DeviceAxis<T>& axis, int from) {
    return from + size > axis.last_free ? axis.nodes - from : size;
  };
  const int end_x = end(Shape::width, g.axis[0], tile_x);
  const int end_y = end(Shape::height, g.axis[1], tile_y);
  const auto finish = [&](int x, int y, int z) {
    const std::int64_t at = z * g.nodes.strides[2] + (tile_y + y) * g.nodes.strides[1] + tile_x + x;
    with_form(
        [&]<KroneckerPass form>() { store<form>(at, __ldg(g.v.x + at), load_other<form>(at)); });
  };
  for (const int z : {0, g.axis[2].nodes - 1}) {
    if (is_free(2, z) || z < first_z || z >= end_z) continue;
    for (int i = threadIdx.x; i < end_x * end_y; i += Shape::threads) {
      finish(i % end_x, i / end_x, z);
    }
  }
  const auto has_constrained = [](const DeviceAxis<T>& axis, int from, int count) {
    return from < axis.first_free || from + count - 1 > axis.last_free;
  };
  if (has_constrained(g.axis[1], tile_y, end_y)) {
    for (int y = 0; y < end_y; ++y) {
      if (is_free(1, tile_y + y)) continue;
      for (int i = threadIdx.x; i < end_x * (end_z - first_z); i += Shape::threads) {
        const int z = first_z + i / end_x;
        if (is_free(2, z)) finish(i % end_x, y, z);
      }
    }
  }
  if (!has_constrained(g.axis[0], tile_x, end_x)) return;
  for (int x = 0; x < end_x; ++x) {
    if (is_free(0, tile_x + x)) continue;
    for (int i = threadIdx.x; i < end_y * (end_z - first_z); i += Shape::threads) {
      const int z = first_z + i / end_y;
      if (is_free(1, tile_y + i % end_y) && is_free(2, z)) finish(x, i % end_y, z);
    }
  }
}

}  // namespace tessera
