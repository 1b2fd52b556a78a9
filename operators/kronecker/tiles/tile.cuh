// A KroneckerTile is the work of one thread block, pass by pass.
#pragma once

#include "operators/kronecker/axis_products.cuh"
#include "operators/kronecker/launch.cuh"
#include "operators/kronecker/node_stores.cuh"
#include "operators/kronecker/tiles/shape.cuh"
#include "solvers/memory/warp.cuh"

namespace tessera {

/// The same value, of which the compiler does not know how to compute it anew: it stays in a
/// register. For all threads of a warp together.
template <class Value>
__device__ __forceinline__ Value kept(Value value) {
  return __shfl_xor_sync(kAllLanes, value, 0);
}

/// A block at work on its tile: y = A x from global memory to global memory. Between the passes
/// the planes of a step are in shared memory, as pairs [slot][row][column]: (v1, v2) after the y
/// pass, (a, b) after the x pass, which in 3D have a slot for the plane below as well. Where there
/// is room for both, nobody has to wait for those that still read (v1, v2), or (a, b); else (a, b)
/// replace (v1, v2).
template <int dimension, class Shape, KroneckerCells kind, KroneckerPass compiled>
class KroneckerTile {
 public:
  using T = typename Shape::T;
  using Arguments = KroneckerArguments<T, Shape::p>;

  __device__ __forceinline__ KroneckerTile(const Arguments& arguments, unsigned char* shared,
                                           const BlockPlace& place)
      : g(arguments),
        lines{arguments},
        rows_z(reinterpret_cast<EntryPair<T>*>(shared)),
        rows_x(rows_z + (dimension == 3 ? Shape::layers * kNodes * kNodes : 0)),
        rows_y(rows_x + Shape::entries * Shape::cells_x),
        slots(reinterpret_cast<ValuePair<T>*>(rows_z + Shape::table_entries(dimension, kind))),
        cell_x(place.tile_x * cells_of_tile()),
        cell_y(place.tile_y * Shape::cells_y * (kHasTiles ? g.tiles_of_block : 1)),
        chunk_of_block(place.chunk) {}

  /// In 3D a tile in all planes of the block's chunk of layers, in 2D the block's tiles.
  __device__ __forceinline__ void run() {
    if constexpr (dimension == 3) {
      run_chunk(g.chunks.layers(chunk_of_block));
    } else if constexpr (kHasTiles) {
      for (int t = 0; t < g.tiles_of_block && cell_y * P <= g.axis[1].last_free; ++t) {
        if (t > 0) __syncthreads();
        run_chunk({0, 1});
        cell_y += Shape::cells_y;
      }
    } else {
      run_chunk({0, 1});
    }
  }
  __device__ Sums<2> sums_of_thread() const { return sums; }

 private:
  // In 2D the plane is one layer.
  __device__ __forceinline__ void run_chunk(Layers chunk) {
    if constexpr (kind == KroneckerCells::different) {
      load_tables();
      __syncthreads();
    }
    if (!kTellsEndsApart || lines.has_free_end(0, cell_x, cells_of_tile()) ||
        lines.has_free_end(1, cell_y, Shape::cells_y)) {
      run_tile<Ends::free>(chunk);
    } else if constexpr (kTellsEndsApart) {
      run_tile<Ends::constrained>(chunk);
    }
  }
  static_assert(Shape::has_thread_for_each_column(dimension));
  static_assert(dimension == 3 || Shape::shape.row_cut == RowCut::full_tiles);
  static constexpr bool kHasTiles = takes_tiles(dimension, compiled);
  static constexpr bool kInPlace = Shape::is_in_place(dimension);
  static constexpr int P = Shape::p;
  static constexpr int kNodes = P + 1;
  static constexpr bool kDifferences = kTakesDifferences<T>;

  __device__ __forceinline__ void load_tables() {
    for (int i = threadIdx.x; i < Shape::entries * Shape::cells_x; i += Shape::threads) {
      const int cell = min(cell_x + i % Shape::cells_x, g.axis[0].cells);
      rows_x[i] =
          g.axis[0].rows[static_cast<std::int64_t>(cell) * Shape::entries + i / Shape::cells_x];
    }
    for (int i = threadIdx.x; i < Shape::entries * Shape::cells_y; i += Shape::threads) {
      const int cell = min(cell_y + i / Shape::entries, g.axis[1].cells);
      rows_y[i] =
          g.axis[1].rows[static_cast<std::int64_t>(cell) * Shape::entries + i % Shape::entries];
    }
  }
  // The matrices of the layers of a step.
  __device__ __forceinline__ void load_rows_z(int layer) {
    for (int i = threadIdx.x; i < Shape::layers * kNodes * kNodes; i += Shape::threads) {
      const int cell = min(layer + i / (kNodes * kNodes), g.axis[2].cells - 1);
      rows_z[i] =
          g.axis[2].rows[static_cast<std::int64_t>(cell) * kNodes * kNodes + i % (kNodes * kNodes)];
    }
  }
  // Tiles without free ends go through code of their own, in the kernels for which it matters.
  static constexpr bool kTellsEndsApart = dimension == 3 && kind == KroneckerCells::alike;
  template <Ends ends>
  __device__ __forceinline__ void run_tile(Layers chunk) {
    if constexpr (dimension == 3) {
      run_through_layers<ends>(chunk);
    } else {
      run_once<ends>();
    }
  }
  template <Ends ends>
  __device__ __forceinline__ void run_through_layers(Layers chunk);
  template <Ends ends>
  __device__ __forceinline__ void run_once();

  // Along x.
  __device__ __forceinline__ int cells_of_tile() const {
    return Shape::shape.row_cut == RowCut::full_tiles ? Shape::cells_x : g.grid.cells_of_tile;
  }

  __device__ __forceinline__ bool is_free(int d, int node) const { return lines.is_free(d, node); }

  // The thread's item of the y pass: a column of nodes, and in it the rows that `work_y` cells own.
  struct ItemY {
    std::int64_t from;  // its window's first node, in a pass whose first plane is the mesh's
    int row;            // the first of the cells, in the tile
    int plane;          // of those of the pass, beyond them where the thread has no item
    int to;             // its place, in a pass whose first slot is 0
    bool is_free;       // the column
  };
  __device__ __forceinline__ ItemY item_y() const {
    const int i = static_cast<int>(threadIdx.x);
    const int columns = cells_of_tile() * P + P + 1;
    const int column = i % columns;
    const int row = i / columns % Shape::pieces_y * Shape::work_y;
    const int plane = i / columns / Shape::pieces_y;
    const int x = (cell_x - 1) * P + column;
    return {plane * g.nodes.strides[2] + (cell_y + row - 1) * P * g.nodes.strides[1] + x, row,
            plane, plane * Shape::plane + row * P * Shape::row + column, is_free(0, x)};
  }

  // w = x in the item's window, if the thread has one; the pass has `count` planes from first_z on.
  // Values that are not free are 0.
  __device__ __forceinline__ void load(const ItemY& item, int first_z, int count, T* w) const {
    if (item.plane >= count) return;
    const auto stride = static_cast<int>(g.nodes.strides[1]);
    const T* from = g.v.x + first_z * g.nodes.strides[2] + item.from;
    const bool are_planes_free = is_free(2, first_z) && is_free(2, first_z + count - 1);
    const bool is_free_column =
        item.is_free && (are_planes_free || is_free(2, first_z + item.plane));
    if (cell_y > 1 && cell_y + Shape::cells_y < g.axis[1].cells) {
#pragma unroll
      for (int j = 0; j < Shape::window_y; ++j, from += stride) {
        w[j] = is_free_column ? __ldg(from) : T{0};
      }
      return;
    }
    const int y = (cell_y + item.row - 1) * P;
#pragma unroll
    for (int j = 0; j < Shape::window_y; ++j, from += stride) {
      w[j] = is_free_column && is_free(1, y + j) ? __ldg(from) : T{0};
    }
  }

  // Rows of the matrices of the cells from one of the tile on.
  __device__ __forceinline__ auto rows_along_x(int cell) const {
    if constexpr (kind == KroneckerCells::different) {
      return TableRows<T, 1, Shape::cells_x>{rows_x + cell};
    } else {
      return UnitRows<T, P>{g.unit};
    }
  }
  __device__ __forceinline__ auto rows_along_y(int cell) const {
    if constexpr (kind == KroneckerCells::different) {
      return TableRows<T, Shape::entries, 1>{rows_y + cell * Shape::entries};
    } else {
      return UnitRows<T, P>{g.unit_y};
    }
  }

  // v1 = M u, v2 = K u + r M u along y, for the nodes that the cells from `cell` on own; `row` is
  // the first of these cells in the tile.
  template <Ends ends>
  __device__ __forceinline__ void y_products(int cell, int row, T* w, T* v1, T* v2) const {
    lines.template along_y<ends, Shape::work_y>(rows_along_y(row), cell, w, v1, v2);
  }

  // (v1, v2) of a pass's planes, the first of which has the slot `slot` of (a, b).
  __device__ __forceinline__ ValuePair<T>* v_from(int slot) const {
    return slots + (kInPlace ? slot : Shape::slots(dimension)) * Shape::plane;
  }

  // The y pass of `count` planes, whose windows have been loaded, for the slots from first_slot on.
  template <Ends ends>
  __device__ __forceinline__ void y_pass(const ItemY& item, int first_slot, int count, T* w) {
    if (item.plane >= count) return;
    T v1[Shape::outputs_y];
    T v2[Shape::outputs_y];
    y_products<ends>(cell_y + item.row, item.row, w, v1, v2);
    ValuePair<T>* const to = v_from(first_slot) + item.to;
#pragma unroll
    for (int j = 0; j < Shape::outputs_y; ++j) to[j * Shape::row] = {v1[j], v2[j]};
  }

  // a = K v1 + M v2, b = M v1 along x for the nodes that the cells from `cell` of the tile on own.
  template <Ends ends>
  __device__ __forceinline__ void x_products(int cell, const ValuePair<T>* v, T* a, T* b) const {
    lines.template along_x<ends, Shape::work_x>(rows_along_x(cell), cell_x + cell, v, a, b);
  }

  // The thread's place in the x pass: a piece of a row of nodes, `line` rows on in the planes of
  // the pass.
  struct ItemX {
    int cell;  // the first of the piece, in the tile
    int at;    // in (v1, v2), and from the pass's first slot on in (a, b)
    bool works;
  };
  __device__ __forceinline__ ItemX item_x(int first_line, int lines) const {
    const int line = first_line + static_cast<int>(threadIdx.x) % Shape::lines;
    const int piece = static_cast<int>(threadIdx.x) / Shape::lines;
    return {piece * Shape::work_x, line * Shape::row + piece * Shape::outputs_x,
            piece < cells_of_tile() / Shape::work_x && line < lines};
  }
  // The x pass of `count` planes from first_slot on: node i of a row goes to column i. In place,
  // rows are written when all of their pieces have been read.
  template <Ends ends>
  __device__ __forceinline__ void x_pass(int first_slot, int count) {
    const int lines = count * Shape::height;
    const ValuePair<T>* const v = v_from(first_slot);
    ValuePair<T>* const to = slots + first_slot * Shape::plane;
#pragma unroll 1
    for (int from = 0; from < lines; from += Shape::lines) {
      const ItemX item = item_x(from, lines);
      T a[Shape::outputs_x];
      T b[Shape::outputs_x];
      if (item.works) x_products<ends>(item.cell, v + item.at, a, b);
      if constexpr (kInPlace) __syncthreads();
      if (item.works) {
#pragma unroll
        for (int i = 0; i < Shape::outputs_x; ++i) to[item.at + i] = {a[i], b[i]};
      }
    }
  }
  // a of the plane in 2D, where b is not wanted, by one value a node.
  __device__ __forceinline__ T* plane_of_a() const { return reinterpret_cast<T*>(slots); }
  // In 2D, where there are registers for all rows at once.
  template <Ends ends>
  __device__ __forceinline__ void x_pass_at_once() {
    constexpr int kRounds = Shape::rounds_of(Shape::height, Shape::lines);
    T a[kRounds][Shape::outputs_x];
    T b[Shape::outputs_x];
#pragma unroll
    for (int r = 0; r < kRounds; ++r) {
      const ItemX item = item_x(r * Shape::lines, Shape::height);
      if (item.works) x_products<ends>(item.cell, slots + item.at, a[r], b);
    }
    __syncthreads();
#pragma unroll
    for (int r = 0; r < kRounds; ++r) {
      const ItemX item = item_x(r * Shape::lines, Shape::height);
      if (!item.works) continue;
#pragma unroll
      for (int i = 0; i < Shape::outputs_x; ++i) plane_of_a()[item.at + i] = a[r][i];
    }
  }

  // A column of nodes of the tile, as the z pass has it.
  struct Column {
    std::int64_t node;  // in the first plane of the mesh
    int at;             // in a slot
    bool is_free;
  };
  // Whether a step may have the first or the last layer of the mesh, or layers of other chunks.
  enum class Step { inner, any };
  __device__ __forceinline__ void z_products(int layer_of_step, int layer, T* a, T* b, T* v) const;
  __device__ __forceinline__ Column column_of(int round) const;
  template <KroneckerPass form, Step step>
  __device__ __forceinline__ void z_pass_of_layer(int layer_of_step, int layer, Layers chunk,
                                                  const Column& column, T& carry);
  template <KroneckerPass form>
  __device__ __forceinline__ void z_pass(int layer, Layers chunk, const Column* columns, T* carry);
  template <KroneckerPass form>
  __device__ __forceinline__ void store_plane();
  template <KroneckerPass form>
  __device__ __forceinline__ void store(std::int64_t node, T value, Beside<form, T> beside) {
    store_result<form>(g.v, node, value, beside, sums);
  }

  const Arguments& g;
  AxisProducts<T, P, kind> lines;
  EntryPair<T>* rows_z;  // [layer of the step][i][j]
  EntryPair<T>* rows_x;  // [entry][cell]
  EntryPair<T>* rows_y;  // [cell][entry]
  ValuePair<T>* slots;   // (a, b), then (v1, v2)
  int cell_x;
  int cell_y;
  int chunk_of_block;
  Sums<2> sums;  // x.y and y.y
};

}  // namespace tessera
