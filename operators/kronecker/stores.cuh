// These stages of a KroneckerTile write y: at free nodes, and at constrained ones.
#pragma once

#include <cstdint>
#include <type_traits>

#include "operators/kronecker/tile.cuh"

namespace tessera {

/// Stores `count` staged planes from plane first_z on at free nodes.
template <class Shape, CellsAlongXY kind, KroneckerPass compiled>
template <KroneckerPass form>
__device__ __forceinline__ void KroneckerTile<Shape, kind, compiled>::store(int first_z,
                                                                            int count) {
  constexpr bool needs_x = form == KroneckerPass::apply_dot;
  constexpr bool needs_b = form == KroneckerPass::residual;
  const KroneckerVectors<T>& v = g.v;
  const int tile_y = cell_y * P;
  const int tile_x = cell_x * P + threadIdx.x;
  const int free_begin = g.axis[1].first_free - tile_y;
  const int free_end = g.axis[1].last_free + 1 - tile_y;
  if (!stores) return;
  const std::int64_t stride = g.nodes.strides[1];
  const T* staged = stage + threadIdx.x;
  const auto store_plane = [&](int z, bool is_last, auto some_constrained) {
    constexpr bool skips = decltype(some_constrained)::value;
    const auto is_skipped = [&](int r) { return skips && (r < free_begin || r >= free_end); };
    const std::int64_t first = z * g.nodes.strides[2] + tile_y * stride + tile_x;
    // All loads come before the first store, which they could not pass.
    [[maybe_unused]] T x[Shape::height];
    [[maybe_unused]] T b[Shape::height];
    if constexpr (kLoadsAhead) {
#pragma unroll
      for (int r = 0; r < Shape::height; ++r) x[r] = x_ahead[r];
      if (!is_last) load_ahead(z + 1);
    } else if constexpr (needs_x) {
      const T* from = v.x + first;
#pragma unroll
      for (int r = 0; r < Shape::height; ++r, from += stride) {
        if (!is_skipped(r)) x[r] = __ldg(from);
      }
    }
    if constexpr (needs_b) {
      const T* from = v.b + first;
#pragma unroll
      for (int r = 0; r < Shape::height; ++r, from += stride) {
        if (!is_skipped(r)) b[r] = *from;
      }
    }
    T* to = v.y + first;
#pragma unroll
    for (int r = 0; r < Shape::height; ++r, to += stride) {
      if (is_skipped(r)) continue;
      const T value = staged[r * Shape::stage_row];
      if constexpr (form == KroneckerPass::apply) {
        *to = value;
      } else if constexpr (form == KroneckerPass::residual) {
        const T residual = b[r] - value;
        *to = residual;
        add_dots(residual, residual);
      } else {
        *to = value;
        add_dots(x[r], value);
      }
    }
  };
  const bool all_free = free_begin <= 0 && free_end >= Shape::height;
#pragma unroll 1
  for (int o = 0; o < count; ++o, staged += Shape::stage_plane) {
    const int z = first_z + o;
    if (!is_free_plane(z)) {
      if (o < count - 1) load_ahead(z + 1);
      continue;
    }
    if (all_free) {
      store_plane(z, o == count - 1, std::false_type{});
    } else {
      store_plane(z, o == count - 1, std::true_type{});
    }
  }
}

/// The constrained nodes of the tile in planes first_z .. end_z, where A is the identity.
template <class Shape, CellsAlongXY kind, KroneckerPass compiled>
__device__ __forceinline__ void KroneckerTile<Shape, kind, compiled>::finish_constrained(
    int first_z, int end_z) {
  const KroneckerVectors<T>& v = g.v;
  const int tile_x = cell_x * P;
  const int tile_y = cell_y * P;
  const int end_x = min(Shape::width, g.axis[0].nodes - tile_x);
  const int end_y = min(Shape::height, g.axis[1].nodes - tile_y);
  const auto finish = [&](int x, int y, int z) {
    const std::int64_t at = z * g.nodes.strides[2] + (tile_y + y) * g.nodes.strides[1] + tile_x + x;
    T value = __ldg(v.x + at);
    switch (v.form) {
      case KroneckerPass::residual:
        value = v.b[at] - value;
        add_dots(value, value);
        break;
      case KroneckerPass::apply_dot:
        add_dots(value, value);
        break;
      case KroneckerPass::apply:
      case KroneckerPass::any:
        break;
    }
    v.y[at] = value;
  };
  for (int z = first_z; z < end_z; ++z) {
    if (is_free_plane(z)) continue;
    for (int i = threadIdx.x; i < end_x * end_y; i += Shape::threads) {
      finish(i % end_x, i / end_x, z);
    }
  }
  if (!at_end_x && !at_end_y) return;
  for (int y = 0; y < end_y; ++y) {
    if (is_free_row(tile_y + y)) continue;
    for (int i = threadIdx.x; i < end_x * (end_z - first_z); i += Shape::threads) {
      const int z = first_z + i / end_x;
      if (is_free_plane(z)) finish(i % end_x, y, z);
    }
  }
  for (int x = 0; x < end_x; ++x) {
    if (tile_x + x >= g.axis[0].first_free && tile_x + x <= g.axis[0].last_free) continue;
    for (int i = threadIdx.x; i < end_y * (end_z - first_z); i += Shape::threads) {
      const int z = first_z + i / end_y;
      if (is_free_row(tile_y + i % end_y) && is_free_plane(z)) finish(x, i % end_y, z);
    }
  }
}

}  // namespace tessera
