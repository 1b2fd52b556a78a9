// A KroneckerWarp is the work of one warp: columns of nodes that it carries through z in registers.
#pragma once

#include <cstdint>

#include "operators/kronecker/axis_products.cuh"
#include "operators/kronecker/node_stores.cuh"
#include "operators/kronecker/warps/sectors.cuh"
#include "operators/kronecker/warps/shapes.hpp"
#include "solvers/memory/warp.cuh"

namespace tessera {

/// What the kernel of a degree has, in numbers.
template <class Value, int Degree>
struct KroneckerWarpShape {
  using T = Value;
  static constexpr int p = Degree;
  static constexpr WarpShape shape = kronecker_warp(p, sizeof(T));
  static constexpr NextPlane next_plane = shape.next_plane;
  static constexpr int cells_x = shape.cells_x;
  static constexpr int cells_y = shape.cells_y;
  static constexpr int warps = shape.warps;
  static constexpr int threads = 32 * warps;
  static constexpr int blocks_per_sm = shape.blocks;
  static constexpr WarpColumns nodes = warp_columns(p, sizeof(T));
  static constexpr int columns = nodes.of_lane;
  static constexpr int rows = nodes.rows;
  static constexpr int window = nodes.window;
  static constexpr int stored = nodes.stored;
  static constexpr int results = p * rows * 32 * columns;  // of a layer of a warp
};

/// A warp at work: y = A x in `rows` rows of nodes, for a chunk of layers of cells. Each lane has
/// the columns of a few cells along x, and in them the rows of all of the warp's cells along y.
/// Plane after plane,
///
///     v1 = M u, v2 = K u + r M u        along y, in registers
///     a = K v1 + M v2, b = M v1         along x, with the neighbors' values by shuffles
///     sums_i += M_ij a + K_ij b         along z: what plane j of a layer adds to its p + 1 planes
///
/// so that no warp waits for another one. The next plane is on its way meanwhile. The p planes of a
/// finished layer go through the warp's shared memory, [plane][row][column], so that neighboring
/// lanes store neighboring nodes, whole sectors of memory each.
template <class Shape, KroneckerPass form>
class KroneckerWarp {
 public:
  using T = typename Shape::T;
  using Arguments = KroneckerArguments<T, Shape::p>;

  /// @param results room for Shape::results values that is the warp's own, 16-byte aligned
  __device__ __forceinline__ KroneckerWarp(const Arguments& arguments, T* results, int tile_x,
                                           int tile_y)
      : g(arguments),
        lines{arguments},
        results_(results),
        lane_(threadIdx.x % kWarp),
        tile_x_(tile_x),
        tile_(tile_x * Shape::stored),
        y_(tile_y * kRows) {
    const int x = tile_ + (static_cast<int>(lane_) - 1) * kColumns;
#pragma unroll
    for (int c = 0; c < kColumns; ++c) free_columns_ |= is_free(0, x + c) ? 1U << c : 0U;
    has_first_column_ = tile_x == 0 && g.axis[0].first_free > 0;
    has_last_column_ =
        tile_x == g.axis[0].last_free / Shape::stored && !is_free(0, g.axis[0].nodes - 1);
    const bool are_rows_free = is_free(1, y_ - P) && is_free(1, y_ + kRows);
    all_free_ =
        are_rows_free && is_free(0, tile_ - kColumns) && is_free(0, tile_ + 31 * kColumns - 1);
  }

  /// Nothing where the warp's rows lie beyond the mesh.
  __device__ __forceinline__ void run(Layers layers) {
    if (y_ > g.axis[1].last_free) return;
    if (lines.has_free_end(0, tile_ / P - Shape::cells_x, 32 * Shape::cells_x) ||
        lines.has_free_end(1, y_ / P, Shape::cells_y)) {
      run_through_layers<Ends::free>(layers);
    } else {
      run_through_layers<Ends::constrained>(layers);
    }
  }
  __device__ Sums<2> sums_of_thread() const { return sums_; }

 private:
  static constexpr int P = Shape::p;
  static constexpr int kColumns = Shape::columns;
  static constexpr int kRows = Shape::rows;
  static constexpr int kWindow = Shape::window;
  static constexpr bool kDifferences = kTakesDifferences<T>;
  // Planes 0 .. p of a layer.
  using Layer = T[P + 1][kRows][kColumns];
  using Row = T[kColumns];
  using Plane = T[kRows][kColumns];
  using Window = T[kWindow][kColumns];

  template <Ends ends>
  __device__ __forceinline__ void run_through_layers(Layers layers) {
    const int first = layers.first;
    const int end = layers.end;
    // A chunk above the first starts a layer early, for what that adds to its first plane.
    int layer = max(first - 1, 0);
    const int last_z = end * P;
    Layer sums;
    Plane reference;  // b of the layer's first plane, where stiffness takes differences
    Window u;
    std::int64_t node = layer * P * g.nodes.strides[2] + y_ * g.nodes.strides[1] + tile_;
    const T* x = g.v.x + (node - P * g.nodes.strides[1] + (static_cast<int>(lane_) - 1) * kColumns);
    // Calls f(r, a, b) for each row of plane z, and asks for the plane above.
    const auto next_plane = [&](int z, auto&& f) {
      Plane v1;
      Plane v2;
      along_y<ends>(u, v1, v2);
      const auto ask_for_next = [&] {
        x += g.nodes.strides[2];
        load(x, z + 1, last_z, u);
      };
      if constexpr (Shape::next_plane == NextPlane::early) ask_for_next();
      if (has_first_column_ || has_last_column_) {
        store_row_end(z, first * P, last_z);
        load_row_end(z + 1, last_z);
      }
#pragma unroll
      for (int r = 0; r < kRows; ++r) {
        Row a;
        Row b;
        along_x<ends>(v1[r], v2[r], a, b);
        f(r, a, b);
      }
      if constexpr (Shape::next_plane == NextPlane::late) ask_for_next();
    };
    load(x, layer * P, last_z, u);
    load_row_end(layer * P, last_z);
    next_plane(layer * P, [&](int r, const Row& a, const Row& b) {
      start_layer(layer, r, a, b, sums, reference[r]);
    });
#pragma unroll 1
    for (; layer < end; ++layer) {
#pragma unroll
      for (int j = 1; j < P; ++j) {
        next_plane(layer * P + j, [&](int r, const Row& a, const Row& b) {
          add_plane(j, r, a, b, reference[r], sums);
        });
      }
      const bool is_stored = layer >= first;
      next_plane(layer * P + P, [&](int r, const Row& a, const Row& b) {
        finish_layer(layer, is_stored, r, a, b, sums, reference[r]);
      });
      if (is_stored) store_layer(layer, node, sums);
      node += P * g.nodes.strides[2];
    }
  }

  __device__ __forceinline__ bool is_free(int d, int node) const { return lines.is_free(d, node); }

  // u = x in the warp's rows of plane z, and 0 where nodes are not free or z is above last_z; the
  // first node that the lane reads is at `x`.
  __device__ __forceinline__ void load(const T* x, int z, int last_z, Window& u) const {
    const bool is_free_plane = z <= last_z && is_free(2, z);
    if (is_free_plane && all_free_) {
#pragma unroll
      for (int r = 0; r < kWindow; ++r, x += g.nodes.strides[1]) {
#pragma unroll
        for (int c = 0; c < kColumns; ++c) u[r][c] = __ldg(x + c);
      }
      return;
    }
#pragma unroll
    for (int r = 0; r < kWindow; ++r, x += g.nodes.strides[1]) {
      const bool is_free_row = is_free_plane && is_free(1, y_ - P + r);
#pragma unroll
      for (int c = 0; c < kColumns; ++c) {
        u[r][c] = T{0};
        if (is_free_row && (free_columns_ >> c & 1U) != 0) u[r][c] = __ldg(x + c);
      }
    }
  }

  // Constrained ends of rows are stored by a lane each, in the step after x has been asked for
  // there, so that the other nodes of their sectors of memory are stored soon after. The node in
  // the mesh's first plane; -1 where the lane has none.
  __device__ __forceinline__ std::int64_t row_end() const {
    static_assert(kRows <= 16);
    const int y = y_ + static_cast<int>(lane_ % 16);
    const bool has_node = lane_ < 16 ? has_first_column_ : has_last_column_;
    if (!has_node || lane_ % 16 >= kRows || !is_free(1, y)) return -1;
    return y * g.nodes.strides[1] + (lane_ < 16 ? 0 : g.axis[0].nodes - 1);
  }
  __device__ __forceinline__ void load_row_end(int z, int last_z) {
    const std::int64_t node = row_end();
    if (node >= 0 && z <= last_z) row_end_ = __ldg(g.v.x + z * g.nodes.strides[2] + node);
  }
  // If the planes from `first` on have z; the plane last_z only if it is the mesh's last.
  __device__ __forceinline__ void store_row_end(int z, int first, int last_z) {
    const std::int64_t end = row_end();
    const bool has_plane = z >= first && (z < last_z || z == g.axis[2].nodes - 1);
    if (end < 0 || !has_plane || !is_free(2, z)) return;
    const std::int64_t node = z * g.nodes.strides[2] + end;
    store_result<form>(g.v, node, row_end_, load_beside<form>(g.v, node), sums_);
  }

  template <Ends ends>
  __device__ __forceinline__ void along_y(const Window& u, Plane& v1, Plane& v2) const {
#pragma unroll
    for (int c = 0; c < kColumns; ++c) {
      T w[kWindow];
      T m[kRows];
      T k[kRows];
#pragma unroll
      for (int r = 0; r < kWindow; ++r) w[r] = u[r][c];
      lines.template along_y<ends, Shape::cells_y>(UnitRows<T, P>{g.unit_y}, y_ / P, w, m, k);
#pragma unroll
      for (int r = 0; r < kRows; ++r) {
        v1[r][c] = m[r];
        v2[r][c] = k[r];
      }
    }
  }
  template <Ends ends>
  __device__ __forceinline__ void along_x(const Row& v1, const Row& v2, Row& a, Row& b) const {
    lines.template along_x<ends, Shape::cells_x>(UnitRows<T, P>{g.unit}, cell_x(), window(v1),
                                                 window(v2), a, b);
  }
  // The first of the lane's cells along x, which is -1 or less left of the mesh.
  __device__ __forceinline__ int cell_x() const {
    return tile_ / P + (static_cast<int>(lane_) - 1) * Shape::cells_x;
  }
  // Entries of a window of x: p of the lane before, the lane's own, one of the lane behind.
  struct RowWindow {
    T left[P];
    const T* own;
    T right;
    __device__ __forceinline__ T operator()(int i) const {
      return i < P ? left[i] : i < P + kColumns ? own[i - P] : right;
    }
  };
  __device__ __forceinline__ static RowWindow window(const Row& own) {
    RowWindow w;
    w.own = own;
#pragma unroll
    for (int i = 0; i < P; ++i) w.left[i] = __shfl_up_sync(kAllLanes, own[kColumns - P + i], 1);
    w.right = __shfl_down_sync(kAllLanes, own[0], 1);
    return w;
  }

  __device__ __forceinline__ EntryPair<T> entry(int i, int j) const {
    return g.unit_z[distinct_entry(P, i, j)];
  }
  __device__ __forceinline__ void add_plane(int j, int r, const Row& a, const Row& b,
                                            const Row& reference, Layer& sums) const {
#pragma unroll
    for (int c = 0; c < kColumns; ++c) {
      const T from = kDifferences ? b[c] - reference[c] : b[c];
#pragma unroll
      for (int i = 0; i <= P; ++i) {
        sums[i][r][c] += entry(i, j).mass * a[c];
        sums[i][r][c] += entry(i, j).stiffness * from;
      }
    }
  }
  // The sums of a chunk's first layer, of which a and b are those of a row of plane 0.
  __device__ __forceinline__ void start_layer(int layer, int r, const Row& a, const Row& b,
                                              Layer& sums, Row& reference) const {
    const T end_term = layer == 0 ? g.axis[2].end_term[0] : T{0};
#pragma unroll
    for (int c = 0; c < kColumns; ++c) {
      reference[c] = b[c];
#pragma unroll
      for (int i = 0; i <= P; ++i) {
        sums[i][r][c] = entry(i, 0).mass * a[c];
        if (!kDifferences) sums[i][r][c] += entry(i, 0).stiffness * b[c];
      }
      sums[0][r][c] += end_term * b[c];
    }
  }
  // Adds a row of the layer's last plane, leaves the results of the others, and starts the layer
  // above; there is none above the mesh's last plane, which is then in its place.
  __device__ __forceinline__ void finish_layer(int layer, bool is_stored, int r, const Row& a,
                                               const Row& b, Layer& sums, Row& reference) {
    const bool is_last = layer == g.axis[2].cells - 1;
#pragma unroll
    for (int c = 0; c < kColumns; ++c) {
      const T from = kDifferences ? b[c] - reference[c] : b[c];
      T mass[P + 1];
      T both[P + 1];
#pragma unroll
      for (int i = 0; i < P; ++i) {
        mass[i] = entry(i, P).mass * a[c];
        both[i] = mass[i] + entry(i, P).stiffness * from;
        sums[i][r][c] += both[i];
      }
      if (is_stored) {
#pragma unroll
        for (int i = 0; i < P; ++i) result(i, r, c) = sums[i][r][c];
      }
      // The layer above has the same matrices, its planes being counted from the other end.
      const EntryPair<T> corner = entry(P, P);
      sums[0][r][c] =
          sums[P][r][c] + 2 * corner.mass * a[c] + (kDifferences ? 1 : 2) * corner.stiffness * from;
      if (is_last) {
        const T added = corner.mass * a[c] + (kDifferences ? T{0} : corner.stiffness * b[c]);
        sums[0][r][c] += g.axis[2].end_term[1] * b[c] - added;
      }
#pragma unroll
      for (int i = 1; i <= P; ++i) sums[i][r][c] = kDifferences ? mass[P - i] : both[P - i];
      reference[c] = b[c];
    }
  }
  // y in the planes of a finished layer, the first of which has the tile's first column at `node`.
  __device__ __forceinline__ void store_layer(int layer, std::int64_t node, const Layer& sums) {
    store<P>(node, layer * P);
    if (layer < g.axis[2].cells - 1) return;
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
#pragma unroll
      for (int c = 0; c < kColumns; ++c) result(0, r, c) = sums[0][r][c];
    }
    store<1>(node + P * g.nodes.strides[2], layer * P + P);
  }

  __device__ __forceinline__ T& result(int plane, int r, int c) const {
    return results_[((plane * kRows + r) * 32 + lane_) * kColumns + c];
  }
  // y in `planes` planes from z on, whose results are in shared memory; `node` is the tile's first
  // one there.
  template <int planes>
  __device__ __forceinline__ void store(std::int64_t node, int z) {
    __syncwarp();
#pragma unroll
    for (int i = 0; i < planes; ++i, node += g.nodes.strides[2]) {
      // Of a layer, only the mesh's first plane can be constrained.
      if (i == 0 && !is_free(2, z)) continue;
      std::int64_t row = node;
#pragma unroll
      for (int r = 0; r < kRows; ++r, row += g.nodes.strides[1]) {
        if (is_free(1, y_ + r)) store_row(row, results_ + (i * kRows + r) * 32 * kColumns);
      }
    }
    __syncwarp();
  }
  // The tile's free columns of a row of y, whose first is `node`, from those of all lanes.
  __device__ __forceinline__ void store_row(std::int64_t node, const T* values) {
    constexpr int kRounds = (Shape::stored + 31) / 32;
    static_assert(kRounds * 32 >= Shape::stored + kSectorBytes / static_cast<int>(sizeof(T)));
    const ColumnRange range = whole_sectors(g.v.y, node, Shape::stored, tile_x_);
    const int first = max(range.first, g.axis[0].first_free - tile_);
    const int end = min(range.end, g.axis[0].last_free + 1 - tile_);
    const auto count = static_cast<unsigned>(max(end - first, 0));
    const int lane = range.first + static_cast<int>(lane_);
    const auto is_stored = [&](int k) {
      return static_cast<unsigned>(lane + 32 * k - first) < count;
    };
    node += lane;
    values += kColumns + lane;
    Beside<form, T> beside[kRounds];
#pragma unroll
    for (int k = 0; k < kRounds; ++k) {
      if (is_stored(k)) beside[k] = load_beside<form>(g.v, node + 32 * k);
    }
#pragma unroll
    for (int k = 0; k < kRounds; ++k) {
      if (is_stored(k)) {
        store_result<form>(g.v, node + 32 * k, values[32 * k], beside[k], sums_);
      }
    }
  }

  const Arguments& g;
  AxisProducts<T, P, KroneckerCells::alike> lines;
  T* results_;
  unsigned lane_;
  int tile_x_;
  int tile_;                   // the first column that the warp stores, but for what sectors need
  int y_;                      // the warp's first row
  unsigned free_columns_ = 0;  // of the lane, a bit each
  bool all_free_;              // whether all nodes that the warp reads are, of a free plane
  bool has_first_column_;      // whether the tile has the constrained first nodes of rows
  bool has_last_column_;       // or last ones
  T row_end_{};                // x at one of these nodes, of the plane to come
  Sums<2> sums_;
};

}  // namespace tessera
