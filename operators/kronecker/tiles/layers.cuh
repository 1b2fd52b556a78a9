// This pass of a KroneckerTile goes along z: layer by layer of cells, as the chunk's tile moves up.
#pragma once

#include "operators/kronecker/tiles/tile.cuh"

namespace tessera {

/// v = M a + K b for the p + 1 planes of a layer: what its cells add. Changes a and b.
template <int dimension, class Shape, KroneckerCells kind, KroneckerPass compiled>
__device__ __forceinline__ void KroneckerTile<dimension, Shape, kind, compiled>::z_products(
    int layer_of_step, int layer, T* a, T* b, T* v) const {
  if constexpr (kDifferences) {
    const T reference = b[0];
#pragma unroll
    for (int k = 0; k <= P; ++k) b[k] -= reference;
  }
  if constexpr (has_table_along_z(kind)) {
    const EntryPair<T>* row = rows_z + layer_of_step * kNodes * kNodes;
#pragma unroll
    for (int i = 0; i <= P; ++i, row += kNodes) {
      v[i] = T{0};
#pragma unroll
      for (int k = 0; k <= P; ++k) v[i] += row[k].mass * a[k] + row[k].stiffness * b[k];
    }
  } else {
    if constexpr (kind == KroneckerCells::multiples_along_z) {
      const EntryPair<T> scale = g.axis[2].rows[min(layer, g.axis[2].cells - 1)];
#pragma unroll
      for (int k = 0; k <= P; ++k) {
        a[k] *= scale.mass;
        b[k] *= scale.stiffness;
      }
    }
    using Half = HalfMatrices<T, P>;
    T even_a[Half::even_count];
    T even_b[Half::even_count];
    T odd_a[Half::odd_count];
    T odd_b[Half::odd_count];
#pragma unroll
    for (int k = 0; k < Half::odd_count; ++k) {
      even_a[k] = a[k] + a[P - k];
      even_b[k] = b[k] + b[P - k];
      odd_a[k] = a[k] - a[P - k];
      odd_b[k] = b[k] - b[P - k];
    }
    if constexpr (P % 2 == 0) {
      even_a[P / 2] = a[P / 2];
      even_b[P / 2] = b[P / 2];
    }
#pragma unroll
    for (int i = 0; i < Half::even_count; ++i) {
      T even{0};
      T odd{0};
#pragma unroll
      for (int k = 0; k < Half::even_count; ++k) {
        even += g.half_z.even[i][k].mass * even_a[k];
        even += g.half_z.even[i][k].stiffness * even_b[k];
      }
      if (2 * i < P) {
#pragma unroll
        for (int k = 0; k < Half::odd_count; ++k) {
          odd += g.half_z.odd[i][k].mass * odd_a[k];
          odd += g.half_z.odd[i][k].stiffness * odd_b[k];
        }
        v[P - i] = even - odd;
      }
      v[i] = even + odd;
    }
  }
}

template <int dimension, class Shape, KroneckerCells kind, KroneckerPass compiled>
__device__ __forceinline__ auto KroneckerTile<dimension, Shape, kind, compiled>::column_of(
    int round) const -> Column {
  const int i = threadIdx.x + round * Shape::threads;
  const int width = cells_of_tile() * P;
  const int column = i % width;
  const int row = i / width;
  const int x = cell_x * P + column;
  const int y = cell_y * P + row;
  return {y * g.nodes.strides[1] + x, row * Shape::row + column,
          row < Shape::height && is_free(0, x) && is_free(1, y)};
}

/// A layer of a column: y in the planes 0 .. p - 1 of its cells, in the mesh's last plane as well.
/// `carry` is what the layer below adds to the first plane.
template <int dimension, class Shape, KroneckerCells kind, KroneckerPass compiled>
template <KroneckerPass form, typename KroneckerTile<dimension, Shape, kind, compiled>::Step step>
__device__ __forceinline__ void KroneckerTile<dimension, Shape, kind, compiled>::z_pass_of_layer(
    int layer_of_step, int layer, Layers chunk, const Column& column, T& carry) {
  const bool is_inner = step == Step::inner;
  const bool stores = is_inner || (layer >= chunk.first && layer < chunk.end);
  const bool is_last = !is_inner && layer == g.axis[2].cells - 1;
  const std::int64_t stride = g.nodes.strides[2];
  const std::int64_t node = layer * P * stride + column.node;
  const ValuePair<T>* const at = slots + column.at + layer_of_step * P * Shape::plane;
  T a[kNodes];
  T b[kNodes];
#pragma unroll
  for (int k = 0; k <= P; ++k) {
    const ValuePair<T> both = at[k * Shape::plane];
    a[k] = both.x;
    b[k] = both.y;
  }
  if (layer_of_step == Shape::layers - 1) slots[column.at] = {a[P], b[P]};
  if (!is_inner && layer == 0) carry = g.axis[2].end_term[0] * b[0];
  T end{0};
  if (is_last) end = g.axis[2].end_term[1] * b[P];
  T v[kNodes];
  z_products(layer_of_step, layer, a, b, v);
  v[0] += carry;
  carry = v[P];
  if (!stores) return;
  Beside<form, T> beside[kNodes];
#pragma unroll
  for (int k = 0; k < P; ++k) beside[k] = load_beside<form>(g.v, node + k * stride);
  if (is_last) beside[P] = load_beside<form>(g.v, node + P * stride);
#pragma unroll
  for (int k = 0; k < P; ++k) {
    // Only the first plane of the mesh can be constrained.
    if (is_inner || k > 0 || is_free(2, layer * P)) {
      store<form>(node + k * stride, v[k], beside[k]);
    }
  }
  if (is_last && is_free(2, layer * P + P)) {
    store<form>(node + P * stride, v[P] + end, beside[P]);
  }
}

/// The layers of a step from `layer` on, in the columns of the thread.
template <int dimension, class Shape, KroneckerCells kind, KroneckerPass compiled>
template <KroneckerPass form>
__device__ __forceinline__ void KroneckerTile<dimension, Shape, kind, compiled>::z_pass(
    int layer, Layers chunk, const Column* columns, T* carry) {
  const auto pass = [&]<Step step>() {
#pragma unroll
    for (int r = 0; r < Shape::rounds_z; ++r) {
      if (!columns[r].is_free) continue;
#pragma unroll
      for (int l = 0; l < Shape::layers; ++l) {
        z_pass_of_layer<form, step>(l, layer + l, chunk, columns[r], carry[r]);
      }
    }
  };
  const bool is_inner = layer > 0 && layer >= chunk.first && layer + Shape::layers <= chunk.end &&
                        layer + Shape::layers < g.axis[2].cells;
  if (is_inner) {
    pass.template operator()<Step::inner>();
  } else {
    pass.template operator()<Step::any>();
  }
}

template <int dimension, class Shape, KroneckerCells kind, KroneckerPass compiled>
template <Ends ends>
__device__ __forceinline__ void KroneckerTile<dimension, Shape, kind, compiled>::run_through_layers(
    Layers chunk) {
  ItemY item = item_y();
  Column columns[Shape::rounds_z];
#pragma unroll
  for (int r = 0; r < Shape::rounds_z; ++r) columns[r] = column_of(r);
  if constexpr (compiled == KroneckerPass::apply && P > 1) {
    // The other kernels need these registers.
    item.from = kept(item.from);
    item.to = kept(item.to);
#pragma unroll
    for (int r = 0; r < Shape::rounds_z; ++r) {
      columns[r].node = kept(columns[r].node);
      columns[r].at = kept(columns[r].at);
    }
  }
  T carry[Shape::rounds_z] = {};
  // A chunk above the first starts a layer early, for what that adds to its first plane, and with
  // the lowest plane of that layer, which comes alone before the steps.
  int layer = max(chunk.first - 1, 0);
  T w[Shape::window_y];
  load(item, layer * P, 1, w);
  for (bool is_step = false; layer < chunk.end; is_step = true) {
    const int slot = is_step ? 1 : 0;
    const int count = is_step ? Shape::planes : 1;
    y_pass<ends>(item, slot, count, w);
    // x of the next step is on its way while this one goes through the other passes.
    const int next = is_step ? layer + Shape::layers : layer;
    if (next < chunk.end) load(item, next * P + 1, Shape::planes, w);
    __syncthreads();
    if constexpr (has_table_along_z(kind)) load_rows_z(layer);
    x_pass<ends>(slot, count);
    __syncthreads();
    if (!is_step) continue;
    with_form<compiled>(g.v,
                        [&]<KroneckerPass form>() { z_pass<form>(layer, chunk, columns, carry); });
    if constexpr (kInPlace) __syncthreads();
    layer += Shape::layers;
  }
}

}  // namespace tessera
