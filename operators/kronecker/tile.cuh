// A KroneckerTile is the work of one thread block, stage by stage.
#pragma once

#include <cuda_pipeline.h>

#include "operators/kronecker/passes.cuh"
#include "operators/kronecker/shape.cuh"
#include "solvers/memory/reduction.cuh"

namespace tessera {

/// A block at work on its tile: the stages of y = A x, from global memory to global memory.
template <class Shape, CellsAlongXY kind, KroneckerPass compiled>
class KroneckerTile {
 public:
  using T = typename Shape::T;
  using Arguments = KroneckerArguments<T, Shape::p>;

  __device__ __forceinline__ KroneckerTile(const Arguments& arguments, unsigned char* shared)
      : g(arguments) {
    rows_z = reinterpret_cast<EntryPair<T>*>(shared);
    rows_x = rows_z + 2 * Shape::entries;
    rows_y = rows_x + Shape::entries * Shape::table_cells;
    planes = reinterpret_cast<T*>(rows_x + Shape::table_entries(kind));
    stage = planes + 2 * Shape::plane;
    cell_x = (g.y_first ? blockIdx.y : blockIdx.x) * Shape::cells_x;
    cell_y = (g.y_first ? blockIdx.x : blockIdx.y) * Shape::cells_y;
    first_y = (cell_y - 1) * P;
    const int x = (cell_x - 1) * P + threadIdx.x;
    column = first_y * g.nodes.strides[1] + x;
    is_free =
        threadIdx.x < Shape::loaded_width && x >= g.axis[0].first_free && x <= g.axis[0].last_free;
    const int to_x = cell_x * P + threadIdx.x;
    stores =
        threadIdx.x < Shape::width && to_x >= g.axis[0].first_free && to_x <= g.axis[0].last_free;
    at_end_x = cell_x == 0 || cell_x + Shape::cells_x >= g.axis[0].cells;
    at_end_y = cell_y == 0 || cell_y + Shape::cells_y >= g.axis[1].cells;
    // Away from the first and last rows, threads may read beyond the ends of a row without leaving
    // the vector.
    all_rows = first_y > 0 && first_y + Shape::window_y < g.axis[1].nodes &&
               g.axis[0].nodes > Shape::threads;
    const int r = threadIdx.x % Shape::outputs;
    const int piece = threadIdx.x / Shape::outputs;
    first_cell = piece * Shape::work_x;
    x_from = r * Shape::row + piece * Shape::outputs;
    x_to = r * Shape::stage_row + piece * Shape::outputs;
    // Columns that are not free stay zero.
    for (int i = threadIdx.x; i < 2 * Shape::plane; i += Shape::threads) planes[i] = T{0};
    if constexpr (kind == CellsAlongXY::different) load_tables();
  }

  /// 3D: all planes of the block's chunk of layers.
  __device__ __forceinline__ void run_through_layers();
  /// 2D.
  __device__ __forceinline__ void run_once();
  __device__ Sums<2> sums_of_thread() const { return sums; }

 private:
  static constexpr int P = Shape::p;
  static constexpr int kOut = Shape::outputs;
  static constexpr bool kDifferences = kTakesDifferences<T>;
  static constexpr bool is_extended = kDifferences && kind == CellsAlongXY::alike;
  static constexpr bool kLoadsAhead = compiled == KroneckerPass::apply_dot;

  __device__ __forceinline__ void load_tables() {
    for (int i = threadIdx.x; i < Shape::entries * Shape::table_cells; i += Shape::threads) {
      const int cell = min(cell_x + i % Shape::table_cells, g.axis[0].cells);
      rows_x[i] =
          g.axis[0].rows[static_cast<std::int64_t>(cell) * Shape::entries + i / Shape::table_cells];
    }
    for (int i = threadIdx.x; i < Shape::entries * Shape::work_y; i += Shape::threads) {
      const int cell = min(cell_y + i / Shape::entries, g.axis[1].cells);
      rows_y[i] =
          g.axis[1].rows[static_cast<std::int64_t>(cell) * Shape::entries + i % Shape::entries];
    }
  }
  // Entries of the z axis for one layer, on their way; layers alternate between two places.
  __device__ __forceinline__ void load_rows_z(int layer) {
    const EntryPair<T>* from = g.axis[2].rows + static_cast<std::int64_t>(layer) * Shape::entries;
    for (int e = threadIdx.x; e < Shape::entries; e += Shape::threads) {
      __pipeline_memcpy_async(rows_z + layer % 2 * Shape::entries + e, from + e,
                              sizeof(EntryPair<T>));
    }
    __pipeline_commit();
  }
  __device__ __forceinline__ void add_dots(T x, T y) {
    sums[0] += static_cast<double>(x) * static_cast<double>(y);
    sums[1] += static_cast<double>(y) * static_cast<double>(y);
  }
  __device__ __forceinline__ bool is_free_plane(int z) const {
    return z >= g.axis[2].first_free && z <= g.axis[2].last_free;
  }
  __device__ __forceinline__ bool is_free_row(int y) const {
    return y >= g.axis[1].first_free && y <= g.axis[1].last_free;
  }

  // w = x at this thread's column of plane z: [window].
  __device__ __forceinline__ void load(int z) {
    const T* from = g.v.x + column + z * g.nodes.strides[2];
    const bool free_plane = is_free_plane(z);
    if (all_rows && free_plane) {
#pragma unroll
      for (int j = 0; j < Shape::window_y; ++j) {
        w[j] = __ldg(from);
        from += g.nodes.strides[1];
      }
      return;
    }
#pragma unroll
    for (int j = 0; j < Shape::window_y; ++j) {
      w[j] = is_free && free_plane && is_free_row(first_y + j) ? __ldg(from) : T{0};
      from += g.nodes.strides[1];
    }
  }

  // Calls f(c, side) for those of C cells from `first` on whose first node ends axis d.
  template <int C, class F>
  __device__ __forceinline__ void for_each_end(int d, int first, F&& f) const {
#pragma unroll
    for (int c = 0; c < C; ++c) {
      const int side = first + c == 0 ? 0 : first + c == g.axis[d].cells ? 1 : -1;
      if (side >= 0) f(c, side);
    }
  }
  // Gives a window of C cells beyond an end the end's value.
  template <int C>
  __device__ __forceinline__ void extend_ends(int d, int first, T* window) const {
#pragma unroll
    for (int c = 0; c < C; ++c) {
      const T end = window[(c + 1) * P];
      // Selections, as the compiler keeps no window in registers that is written in branches.
#pragma unroll
      for (int j = 1; j <= P; ++j) {
        T& below = window[(c + 1) * P - j];
        T& above = window[(c + 1) * P + j];
        below = first + c == 0 ? end : below;
        above = first + c == g.axis[d].cells ? end : above;
      }
    }
  }

  // v1 = M u, v2 = K u + r M u along y, to shared memory.
  __device__ __forceinline__ void y_pass() {
    T v1[Shape::height];
    T v2[Shape::height];
    if constexpr (kind == CellsAlongXY::alike) {
      if (is_extended && at_end_y) extend_ends<Shape::work_y>(1, cell_y, w);
      both_products<P, Shape::work_y>(UnitRows<T, P>{g.unit}, w, v1, v2);
    } else {
      both_products<P, Shape::work_y>(TableRows<T, Shape::entries, 1>{rows_y}, w, v1, v2);
    }
    if (at_end_y) {
      for_each_end<Shape::work_y>(1, cell_y, [&](int c, int side) {
        const T end = w[(c + 1) * P];
        if constexpr (kind == CellsAlongXY::alike) {
          v1[c * P] -= g.beyond.mass * end;
          v2[c * P] -= g.beyond.stiffness * end;
        }
        v2[c * P] += g.axis[1].end_term[side] * end;
      });
    }
    if constexpr (kind == CellsAlongXY::alike) {
#pragma unroll
      for (int i = 0; i < Shape::height; ++i) v2[i] *= g.ratio;
    }
#pragma unroll
    for (int i = 0; i < Shape::height; ++i) v2[i] += g.reaction * v1[i];
    if (!is_free) return;
#pragma unroll
    for (int i = 0; i < Shape::height; ++i) {
      planes[i * Shape::row + threadIdx.x] = v1[i];
      planes[Shape::plane + i * Shape::row + threadIdx.x] = v2[i];
    }
  }

  // a = K v1 + M v2, b = M v1 along x.
  __device__ __forceinline__ void x_pass(int k, T* a, T* b) const {
    const T* from = planes + x_from + k * kOut * Shape::row;
    T u[Shape::window_x];
    const auto load_window = [&](const T* values) {
#pragma unroll
      for (int i = 0; i < Shape::window_x; ++i) u[i] = values[i];
      if (is_extended && at_end_x) extend_ends<Shape::work_x>(0, cell_x + first_cell, u);
    };
    const auto products = [&](const auto& rows) {
      load_window(from);
      both_products<P, Shape::work_x>(rows, u, b, a);
      load_window(from + Shape::plane);
      add_mass_product<P, Shape::work_x>(rows, u, a);
    };
    if constexpr (kind == CellsAlongXY::different) {
      products(TableRows<T, 1, Shape::table_cells>{rows_x + first_cell});
    } else {
      products(UnitRows<T, P>{g.unit});
    }
    if (!at_end_x) return;
    for_each_end<Shape::work_x>(0, cell_x + first_cell, [&](int c, int side) {
      const T* end = from + (c + 1) * P;
      if constexpr (kind == CellsAlongXY::alike) {
        b[c * P] -= g.beyond.mass * end[0];
        a[c * P] -= g.beyond.stiffness * end[0] + g.beyond.mass * end[Shape::plane];
      }
      a[c * P] += g.axis[0].end_term[side] * end[0];
    });
  }

  // acc[o] of the item to plane `to_plane` of the stage.
  __device__ __forceinline__ void stage_plane(int k, int o, int to_plane) {
    T* to = stage + to_plane * Shape::stage_plane + x_to + k * kOut * Shape::stage_row;
#pragma unroll
    for (int i = 0; i < kOut; ++i) to[i] = acc[k][o][i];
  }

  // acc[o] += M[o][z] a + K[o][z] b: what plane z adds to the planes o of its layer, where `row`
  // holds the plane's entries, or, with differences, K'[o][z] (b - b of the plane before), where
  // K'[o][z] = sum_{j >= z} K[o][j] within the layer. A layer's first plane ends the layer below,
  // which goes to the stage; so does the mesh's last plane.
  enum class Plane { first, inner };
  __device__ __forceinline__ void z_pass(int k, Plane plane, bool stages, int layer,
                                         const EntryPair<T>* row, const T* a, const T* b) {
    const bool is_last = layer == g.axis[2].cells;
    T steps[kOut];
#pragma unroll
    for (int i = 0; i < kOut; ++i) {
      steps[i] = b[i];
      if constexpr (kDifferences) {
        steps[i] -= previous[k][i];
        previous[k][i] = b[i];
      }
    }
    const auto add = [&](int o, EntryPair<T> e) {
#pragma unroll
      for (int i = 0; i < kOut; ++i) {
        acc[k][o][i] += e.mass * a[i];
        acc[k][o][i] += e.stiffness * steps[i];
      }
    };
    if (plane == Plane::inner) {
#pragma unroll
      for (int o = 0; o <= P; ++o) add(o, row[o]);
      return;
    }
    if (stages) {
#pragma unroll
      for (int o = 0; o < P; ++o) {
        add(o, row[o]);
        stage_plane(k, o, o);
      }
    }
#pragma unroll
    for (int i = 0; i < kOut; ++i) acc[k][0][i] = acc[k][P][i];
    add(0, row[P]);
    if (layer == 0 || is_last) {
      const T end_term = g.axis[2].end_term[is_last ? 1 : 0];
#pragma unroll
      for (int i = 0; i < kOut; ++i) acc[k][0][i] += end_term * b[i];
    }
    if (is_last) stage_plane(k, 0, P);
#pragma unroll
    for (int o = 1; o <= P; ++o) {
      const EntryPair<T> e = row[P + o];
#pragma unroll
      for (int i = 0; i < kOut; ++i) {
        acc[k][o][i] = e.mass * a[i];
        // The step to this plane is one of the layer below.
        if constexpr (!kDifferences) acc[k][o][i] += e.stiffness * b[i];
      }
    }
  }

  // x_ahead = x at this thread's column of plane z, where store() will want it.
  __device__ __forceinline__ void load_ahead(int z) {
    if (!kLoadsAhead || !stores || !is_free_plane(z)) return;
    const T* from =
        g.v.x + z * g.nodes.strides[2] + cell_y * P * g.nodes.strides[1] + cell_x * P + threadIdx.x;
#pragma unroll
    for (int r = 0; r < Shape::height; ++r, from += g.nodes.strides[1]) {
      if (is_free_row(cell_y * P + r)) x_ahead[r] = __ldg(from);
    }
  }
  template <KroneckerPass form>
  __device__ __forceinline__ void store(int first_z, int count);
  __device__ __forceinline__ void store_any(int first_z, int count) {
    if constexpr (compiled != KroneckerPass::any) return store<compiled>(first_z, count);
    switch (g.v.form) {
      case KroneckerPass::apply:
        return store<KroneckerPass::apply>(first_z, count);
      case KroneckerPass::apply_dot:
        return store<KroneckerPass::apply_dot>(first_z, count);
      case KroneckerPass::residual:
        return store<KroneckerPass::residual>(first_z, count);
      case KroneckerPass::any:
        return;
    }
  }
  __device__ __forceinline__ void finish_constrained(int first_z, int end_z);

  const Arguments& g;
  EntryPair<T>* rows_z;  // [2 layers][entry]
  EntryPair<T>* rows_x;  // [entry][cell]
  EntryPair<T>* rows_y;  // [cell][entry]
  T* planes;             // [v1, v2][row][x]
  T* stage;              // [plane][row][x]
  int cell_x;
  int cell_y;
  int first_y;
  std::int64_t column;
  int first_cell;  // of the item, in the tile
  int x_from;      // its places in `planes` and in `stage`
  int x_to;
  bool at_end_x;
  bool at_end_y;
  bool all_rows;
  bool is_free;  // this thread's column
  bool stores;
  T w[Shape::window_y];
  T x_ahead[kLoadsAhead ? Shape::height : 1];
  T acc[Shape::items][P + 1][kOut];
  T previous[kDifferences ? Shape::items : 1][kOut];  // b of the plane before
  Sums<2> sums;                                       // x.y and y.y
};

template <class Shape, CellsAlongXY kind, KroneckerPass compiled>
__device__ __forceinline__ void KroneckerTile<Shape, kind, compiled>::run_through_layers() {
  const int first_layer = blockIdx.z * g.layers_per_chunk;
  const int end_layer = min(first_layer + g.layers_per_chunk, g.axis[2].cells);
#pragma unroll
  for (int k = 0; k < Shape::items; ++k) {
#pragma unroll
    for (int i = 0; i < kOut; ++i) {
#pragma unroll
      for (int o = 0; o <= P; ++o) acc[k][o][i] = T{0};
      if constexpr (kDifferences) previous[k][i] = T{0};
    }
  }
  // A chunk above the first starts a layer early, for what that adds to its first plane.
  int layer = first_layer == 0 ? 0 : first_layer - 1;
  const int last_z = end_layer * P;
  load_rows_z(layer);
  load(layer * P);
  __pipeline_wait_prior(0);
  __syncthreads();
#pragma unroll 1
  for (; layer <= end_layer; ++layer) {
    const int planes_of_layer = layer < end_layer ? P : 1;
    const bool stages = layer > first_layer;
    const bool is_last = layer == g.axis[2].cells;
    const EntryPair<T>* row = rows_z + layer % 2 * Shape::entries;
#pragma unroll 1
    for (int i = 0; i < planes_of_layer; ++i) {
      const int z = layer * P + i;
      y_pass();
      if (z < last_z) load(z + 1);
      __syncthreads();
      if (i == 0 && !is_last) load_rows_z(layer + 1);
#pragma unroll
      for (int k = 0; k < Shape::items; ++k) {
        T a[kOut];
        T b[kOut];
        x_pass(k, a, b);
        if (i == 0) {
          z_pass(k, Plane::first, stages, layer, row, a, b);
        } else {
          z_pass(k, Plane::inner, false, layer, row, a, b);
        }
      }
      row += i == 0 ? 2 * P + 1 : P + 1;
      if (i == 0 && stages) load_ahead(z - P);
      __pipeline_wait_prior(0);
      __syncthreads();
      if (i == 0 && stages) store_any(z - P, is_last ? P + 1 : P);
    }
  }
  finish_constrained(first_layer * P, end_layer * P + (end_layer == g.axis[2].cells ? 1 : 0));
}

template <class Shape, CellsAlongXY kind, KroneckerPass compiled>
__device__ __forceinline__ void KroneckerTile<Shape, kind, compiled>::run_once() {
  load(0);
  __syncthreads();
  y_pass();
  __syncthreads();
#pragma unroll
  for (int k = 0; k < Shape::items; ++k) {
    T a[kOut];
    T b[kOut];
    x_pass(k, a, b);
#pragma unroll
    for (int i = 0; i < kOut; ++i) acc[k][0][i] = g.scale * a[i];
    stage_plane(k, 0, 0);
  }
  load_ahead(0);
  __syncthreads();
  store_any(0, 1);
  finish_constrained(0, 1);
}

}  // namespace tessera
