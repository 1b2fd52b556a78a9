#include <cuda_pipeline_primitives.h>

#include <algorithm>
#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

#include "operators/cell_access.cuh"
#include "operators/device_local.hpp"
#include "solvers/cuda_check.hpp"
#include "solvers/device_array.hpp"

namespace tessera {
namespace {

constexpr int kWarp = 32;
constexpr int kMostThreads = 1024;
constexpr int kThreads = 256;
// Of a launch with one thread a cell.
constexpr int kCellThreads = 128;
// Nodes that a thread gathers or scatters at a time, so that memory accesses wait together.
constexpr int kBatch = 4;

template <class T>
struct LocalArguments {
  CellGrid grid;
  CellRange range;
  CellSource<T> source;
  CellSink<T> sink;
  int nodes;  // N, of a cell
};

__host__ __device__ Index number_in_mesh(const CellGrid& grid, const int (&position)[3]) {
  return position[0] +
         grid.cells[0] * (position[1] + grid.cells[1] * static_cast<Index>(position[2]));
}

// As place_cell(); launches have fewer than 2^32 cells, and 32-bit divisions are much faster.
__device__ CellPlace place_numbered(const CellGrid& grid, const CellRange& range, Index number) {
  const auto count_x = static_cast<unsigned>(range.count[0]);
  const auto count_y = static_cast<unsigned>(range.count[1]);
  const auto cell = static_cast<unsigned>(number);
  const unsigned row = cell / count_x;
  return place_cell(grid, range, static_cast<int>(cell % count_x), static_cast<int>(row % count_y),
                    static_cast<int>(row / count_y));
}

// A node of the table, whose cell starts at lattice index 0, in its place.
__device__ CellNode node_at(const CellPlace& place, CellNode node) {
  node.lattice += place.first_node;
  return node;
}

// The nodes of a cell that starts at lattice index 0. One thread a node.
__global__ void fill_table_kernel(const CellGrid grid, int nodes, CellNode* table) {
  const int i = static_cast<int>(blockIdx.x) * kThreads + static_cast<int>(threadIdx.x);
  if (i < nodes) table[i] = cell_node(grid, CellPlace{{0, 0, 0}, 0, 0U, 0U}, i);
}

// d += the diagonals; cells share no node. One thread a node of a cell, striding; entry (i, j) of a
// cell's matrix is at cell * cell_stride + (i N + j) entry_stride. Reads two values and writes one
// a node. Deterministic.
template <class T>
__global__ void __launch_bounds__(kThreads)
    add_diagonal_kernel(const LocalArguments<T> args, const T* __restrict__ matrices,
                        Index cell_stride, Index entry_stride, const CellNode* __restrict__ table,
                        T* d) {
  const Index total = args.range.size() * args.nodes;
  for (Index t = static_cast<Index>(blockIdx.x) * kThreads + threadIdx.x; t < total;
       t += static_cast<Index>(gridDim.x) * kThreads) {
    const CellPlace place = place_numbered(args.grid, args.range, t / args.nodes);
    const Index i = t % args.nodes;
    d[place.first_node + table[i].lattice] +=
        matrices[number_in_mesh(args.grid, place.position) * cell_stride +
                 i * (args.nodes + 1) * entry_stride];
  }
}

// One thread a cell, kCellThreads a block, no shared memory; 2 N^2 flops a cell. A row's entries
// follow each other, since the matrix is symmetric: entry (i, j) at cell * cell_stride + (i N + j)
// entry_stride. Matrices of their own, cells fastest: N^2 values read a cell; with a color, which
// has every second cell, half of what comes from memory is used. Deterministic but for atomic
// sinks.
template <class T>
__global__ void __launch_bounds__(kCellThreads)
    thread_kernel(const LocalArguments<T> args, const T* __restrict__ matrices, Index cell_stride,
                  Index entry_stride, const CellNode* __restrict__ table) {
  const Index number = static_cast<Index>(blockIdx.x) * kCellThreads + threadIdx.x;
  if (number >= args.range.size()) return;
  const CellPlace place = place_numbered(args.grid, args.range, number);
  const T* entry = matrices + number_in_mesh(args.grid, place.position) * cell_stride;
  for (int i = 0; i < args.nodes; ++i) {
    T sum{0};
#pragma unroll 8
    for (int j = 0; j < args.nodes; ++j, entry += entry_stride) {
      sum += __ldg(entry) * load_node(args.source, place, node_at(place, table[j]));
    }
    store_node(args.sink, place, number, node_at(place, table[i]), sum);
  }
}

constexpr int kTile = 32;
constexpr int kTileRows = 8;

// out[e * out_stride + c] = in[c * entries + e] for c < cells. A block a tile of kTile^2, kTile x
// kTileRows threads; reads and writes every value once, coalesced.
template <class T>
__global__ void __launch_bounds__(kTile* kTileRows)
    transpose_kernel(const T* __restrict__ in, Index entries, Index cells, Index out_stride,
                     T* __restrict__ out) {
  __shared__ T tile[kTile][kTile + 1];
  const Index tiles = ceil_div(entries, kTile);
  const Index first_entry = blockIdx.x % tiles * kTile;
  const Index first_cell = blockIdx.x / tiles * kTile;
  const int x = static_cast<int>(threadIdx.x);
  for (int y = static_cast<int>(threadIdx.y); y < kTile; y += kTileRows) {
    const Index c = first_cell + y;
    const Index e = first_entry + x;
    if (c < cells && e < entries) tile[y][x] = in[c * entries + e];
  }
  __syncthreads();
  for (int y = static_cast<int>(threadIdx.y); y < kTile; y += kTileRows) {
    const Index c = first_cell + x;
    const Index e = first_entry + y;
    if (c < cells && e < entries) out[e * out_stride + c] = tile[x][y];
  }
}

// Columns of a matrix that a thread of stream_kernel() has under way: two such batches.
template <class T>
constexpr int kColumns = 64 / static_cast<int>(sizeof(T));

// Values of u that stream_kernel() keeps for a cell: N and zeros up to whole batches of columns.
template <class T>
__host__ __device__ constexpr int streamed_nodes(int nodes) {
  return (nodes + kColumns<T> - 1) / kColumns<T> * kColumns<T>;
}

// k[r] = K[i][j + r] where there is such a column, else 0; `row` points to K[i][0], columns are N
// apart.
template <class T>
__device__ void load_columns(const T* __restrict__ row, int j, int nodes, T (&k)[kColumns<T>]) {
#pragma unroll
  for (int r = 0; r < kColumns<T>; ++r) {
    k[r] = j + r < nodes ? __ldcs(row + static_cast<Index>(j + r) * nodes) : T{0};
  }
}

// A thread a row of `cells` cells, rows fastest; where a block has fewer threads than there are
// rows, each goes on with the row blockDim.x later. Matrices at matrix_stride, 0 if it is one.
// Shared memory: the cells' places and streamed_nodes() values each. Bound by N^2 values read a
// cell; 2 N^2 flops. Deterministic but for atomic sinks.
template <class T>
__global__ void __launch_bounds__(kMostThreads)
    stream_kernel(const LocalArguments<T> args, const T* __restrict__ matrices, Index matrix_stride,
                  const CellNode* __restrict__ table, int cells) {
  extern __shared__ __align__(16) char shared[];
  auto* const places = reinterpret_cast<CellPlace*>(shared);
  const int nodes = args.nodes;
  const int u_stride = streamed_nodes<T>(nodes);
  const Index first = static_cast<Index>(blockIdx.x) * cells;
  const auto here = static_cast<int>(min(static_cast<Index>(cells), args.range.size() - first));
  const auto thread = static_cast<int>(threadIdx.x);
  if (thread < here) places[thread] = place_numbered(args.grid, args.range, first + thread);
  __syncthreads();

  const int row_step = min(nodes, static_cast<int>(blockDim.x));
  const int cell = thread / nodes;
  const int first_row = thread - cell * nodes;
  const bool has_row = cell < here;
  T* const u = reinterpret_cast<T*>(places + cells) + cell * u_stride;
  const T* matrix = matrices;
  T next[kColumns<T>] = {};
  if (has_row) {
    const CellPlace& place = places[cell];
    matrix += number_in_mesh(args.grid, place.position) * matrix_stride;
    // Under way while u is gathered.
    load_columns(matrix + first_row, 0, nodes, next);
    for (int j = first_row; j < u_stride; j += row_step) {
      u[j] = j < nodes ? load_node(args.source, place, node_at(place, table[j])) : T{0};
    }
  }
  __syncthreads();
  if (!has_row) return;

  for (int i = first_row; i < nodes; i += row_step) {
    if (i != first_row) load_columns(matrix + i, 0, nodes, next);
    T sum[4] = {};
    for (int j = 0; j < nodes; j += kColumns<T>) {
      T now[kColumns<T>];
#pragma unroll
      for (int r = 0; r < kColumns<T>; ++r) now[r] = next[r];
      load_columns(matrix + i, j + kColumns<T>, nodes, next);
#pragma unroll
      for (int r = 0; r < kColumns<T>; ++r) sum[r % 4] += now[r] * u[j + r];
    }
    store_node(args.sink, places[cell], first + cell, node_at(places[cell], table[i]),
               (sum[0] + sum[1]) + (sum[2] + sum[3]));
  }
}

template <class T, int n>
struct alignas(sizeof(T) * n) Pack {
  T value[n];
};

// A warp's part of K U, kRows x kCells: value[e] of a lane is at (row(e), cell(e)).
//
// By multiply-adds: the lanes are 4 x 8, each has kRows / 4 rows, in fours, and kCells / 8 cells.
template <class T, int kRows, int kCells>
struct WarpProduct {
  static constexpr int kEntries = kRows * kCells / kWarp;
  static constexpr int kLaneCells = kCells / 8;
  static constexpr int kFours = kRows / 16;

  T value[kEntries];

  __device__ static int row(int e) {
    return e / (4 * kLaneCells) * 16 + static_cast<int>(threadIdx.x) % kWarp / 8 * 4 +
           e / kLaneCells % 4;
  }
  __device__ static int cell(int e) {
    return static_cast<int>(threadIdx.x) % 8 * kLaneCells + e % kLaneCells;
  }

  // value += K U for `depth` columns of K, a multiple of 4: matrix[k][row], u[k][cell].
  __device__ void add(const T* matrix, int matrix_stride, const T* u, int u_stride, int depth) {
    matrix += row(0);
    u += cell(0);
#pragma unroll 4
    for (int k = 0; k < depth; ++k) {
      const auto of_cells =
          *reinterpret_cast<const Pack<T, kLaneCells>*>(u + static_cast<Index>(k) * u_stride);
#pragma unroll
      for (int f = 0; f < kFours; ++f) {
        const auto of_rows =
            *reinterpret_cast<const Pack<T, 4>*>(matrix + k * matrix_stride + 16 * f);
#pragma unroll
        for (int r = 0; r < 4; ++r) {
#pragma unroll
          for (int c = 0; c < kLaneCells; ++c) {
            value[(f * 4 + r) * kLaneCells + c] += of_rows.value[r] * of_cells.value[c];
          }
        }
      }
    }
  }
};

// sum += A B, 16 x 8, over 4 columns of A. With g = lane / 4 and k = lane % 4 a lane has A[g][k],
// A[g + 8][k], B[k][g] and of the sum [g][2 k], [g][2 k + 1], [g + 8][2 k], [g + 8][2 k + 1].
__device__ void multiply_add_16x8x4(double a_upper, double a_lower, double b, double* sum) {
#if __CUDA_ARCH__ >= 900
  asm volatile(
      "mma.sync.aligned.m16n8k4.row.col.f64.f64.f64.f64 {%0, %1, %2, %3}, {%4, %5}, {%6}, "
      "{%0, %1, %2, %3};"
      : "+d"(sum[0]), "+d"(sum[1]), "+d"(sum[2]), "+d"(sum[3])
      : "d"(a_upper), "d"(a_lower), "d"(b));
#else
  asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};"
               : "+d"(sum[0]), "+d"(sum[1])
               : "d"(a_upper), "d"(b));
  asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};"
               : "+d"(sum[2]), "+d"(sum[3])
               : "d"(a_lower), "d"(b));
#endif
}

// By FP64 tensor cores. Strides that are 4 or 12 modulo 16 have no bank conflicts.
template <int kRows, int kCells>
struct WarpProduct<double, kRows, kCells> {
  static constexpr int kEntries = kRows * kCells / kWarp;
  static constexpr int kRowParts = kRows / 16;
  static constexpr int kCellParts = kCells / 8;

  double value[kEntries];

  __device__ static int row(int e) {
    return e / 4 / kCellParts * 16 + e % 4 / 2 * 8 + static_cast<int>(threadIdx.x) % kWarp / 4;
  }
  __device__ static int cell(int e) {
    return e / 4 % kCellParts * 8 + static_cast<int>(threadIdx.x) % 4 * 2 + e % 2;
  }

  __device__ void add(const double* matrix, int matrix_stride, const double* u, int u_stride,
                      int depth) {
    const int k = static_cast<int>(threadIdx.x) % 4;
    const int g = static_cast<int>(threadIdx.x) % kWarp / 4;
    matrix += k * matrix_stride + g;
    u += k * u_stride + g;
#pragma unroll 2
    for (int first = 0; first < depth; first += 4) {
      double b[kCellParts];
#pragma unroll
      for (int c = 0; c < kCellParts; ++c) b[c] = u[first * u_stride + 8 * c];
#pragma unroll
      for (int r = 0; r < kRowParts; ++r) {
        const double a_upper = matrix[first * matrix_stride + 16 * r];
        const double a_lower = matrix[first * matrix_stride + 16 * r + 8];
#pragma unroll
        for (int c = 0; c < kCellParts; ++c) {
          multiply_add_16x8x4(a_upper, a_lower, b[c], value + (r * kCellParts + c) * 4);
        }
      }
    }
  }
};

// How a block of product_kernel() shares its work: warps stand in warp_rows rows, each has
// rows_a_warp x cells_a_warp of the product; K passes through shared memory in tiles of kRows rows
// and kDepth columns.
template <int rows_a_warp, int cells_a_warp, int warp_rows, int warps, int depth>
struct ProductShape {
  static constexpr int kRowsAWarp = rows_a_warp;
  static constexpr int kCellsAWarp = cells_a_warp;
  static constexpr int kWarpColumns = warps / warp_rows;
  static constexpr int kThreads = warps * kWarp;
  static constexpr int kRows = rows_a_warp * warp_rows;
  static constexpr int kCells = cells_a_warp * kWarpColumns;
  static constexpr int kDepth = depth;
  // Of rows of K's tiles and of U in shared memory, against bank conflicts.
  static constexpr int kRowStride = kRows + 4;
  static constexpr int kCellStride = kCells + 4;
  static constexpr int kBlocksAMultiprocessor = 512 / kThreads;
};

// The sums over columns go in steps of 4.
__host__ __device__ constexpr int padded_nodes(int nodes) { return (nodes + 3) / 4 * 4; }

// A node of one of a block's cells.
struct BlockNode {
  int local;
  int cell;
};

// Node t of kCells cells, so numbered that neighbors are neighbors in the lattice: x fastest, then
// the cells, then y and z. reciprocal = ceil(2^32 / n), exact for t < 2^32 / n.
template <int kCells>
__device__ BlockNode block_node(unsigned t, unsigned n, unsigned reciprocal) {
  const unsigned row = __umulhi(t, reciprocal);
  return {static_cast<int>(row / kCells * n + (t - row * n)), static_cast<int>(row % kCells)};
}

template <class T>
struct BlockValue {
  BlockNode node;  // cell < 0: none
  T v;
};

// store_node() of the values find(0), ..., find(kBatch - 1), whose reads of y wait together: in
// turn, each would wait for the write before it.
template <class T, class Find>
__device__ void store_batch(const LocalArguments<T>& args, const CellPlace* places, Index first,
                            const CellNode* __restrict__ table, Find&& find) {
  BlockValue<T> entry[kBatch];
  CellNode node[kBatch];
  bool adds[kBatch];
#pragma unroll
  for (int b = 0; b < kBatch; ++b) {
    entry[b] = find(b);
    adds[b] = false;
    if (entry[b].node.cell < 0) continue;
    const CellPlace& place = places[entry[b].node.cell];
    node[b] = node_at(place, table[entry[b].node.local]);
    adds[b] = (place.fixed & node[b].faces) == 0U &&
              (args.sink.kind == SinkKind::add ||
               (args.sink.kind == SinkKind::first_or_add && (place.earlier & node[b].faces) != 0U));
    if (adds[b]) entry[b].v += args.sink.values[node[b].lattice];
  }
#pragma unroll
  for (int b = 0; b < kBatch; ++b) {
    const int cell = entry[b].node.cell;
    if (cell < 0) continue;
    if (adds[b]) {
      args.sink.values[node[b].lattice] = entry[b].v;
    } else {
      store_node(args.sink, places[cell], first + cell, node[b], entry[b].v);
    }
  }
}

// V = K U for Shape::kCells cells a block, Shape::kThreads threads. Shared memory: U as
// [node][cell], two tiles of K as [column][row], the cells' places. K is read once a block, from
// the L2 cache: kCells / 4 flops a byte of double; u and v take 2 (1 + 1/p)^d values a DoF. 2 N^2
// flops a cell, rows in whole parts of 16. Deterministic but for atomic sinks.
template <class T, class Shape>
__global__ void __launch_bounds__(Shape::kThreads, Shape::kBlocksAMultiprocessor)
    product_kernel(const LocalArguments<T> args, const T* __restrict__ matrix,
                   const CellNode* __restrict__ table) {
  extern __shared__ __align__(16) char shared[];
  constexpr int kCells = Shape::kCells;
  constexpr int kRows = Shape::kRows;
  constexpr int kDepth = Shape::kDepth;
  constexpr int kTileSize = kDepth * Shape::kRowStride;
  const int nodes = args.nodes;
  const int padded = padded_nodes(nodes);
  T* const U = reinterpret_cast<T*>(shared);
  T* const tiles = U + padded * Shape::kCellStride;
  auto* const places = reinterpret_cast<CellPlace*>(tiles + 2 * kTileSize);
  const Index first = static_cast<Index>(blockIdx.x) * kCells;
  const auto here = static_cast<int>(min(static_cast<Index>(kCells), args.range.size() - first));
  const auto thread = static_cast<int>(threadIdx.x);

  const int depth_steps = (nodes + kDepth - 1) / kDepth;
  const int steps = depth_steps * ((nodes + kRows - 1) / kRows);
  const auto load_tile = [&](int step) {
    T* const tile = tiles + step % 2 * kTileSize;
    const int first_row = step / depth_steps * kRows;
    const int first_column = step % depth_steps * kDepth;
    for (int t = thread; t < kDepth * kRows; t += Shape::kThreads) {
      const int row = first_row + t % kRows;
      const int column = first_column + t / kRows;
      const bool is_inside = row < nodes && column < nodes;
      const T* from = is_inside ? matrix + static_cast<Index>(column) * nodes + row : matrix;
      __pipeline_memcpy_async(tile + t / kRows * Shape::kRowStride + t % kRows, from, sizeof(T),
                              is_inside ? 0 : sizeof(T));
    }
    __pipeline_commit();
  };
  load_tile(0);

  for (int c = thread; c < here; c += Shape::kThreads) {
    places[c] = place_numbered(args.grid, args.range, first + c);
  }
  __syncthreads();
  const auto n = static_cast<unsigned>(args.grid.degree + 1);
  const unsigned reciprocal = 0xffffffffU / n + 1U;
  const auto total = static_cast<unsigned>(nodes * kCells);
  for (unsigned t0 = threadIdx.x; t0 < total; t0 += kBatch * Shape::kThreads) {
    T u[kBatch];
#pragma unroll
    for (int b = 0; b < kBatch; ++b) {
      const BlockNode node = block_node<kCells>(t0 + b * Shape::kThreads, n, reciprocal);
      u[b] = T{0};
      if (node.local < nodes && node.cell < here) {
        const CellPlace& place = places[node.cell];
        u[b] = load_node(args.source, place, node_at(place, table[node.local]));
      }
    }
#pragma unroll
    for (int b = 0; b < kBatch; ++b) {
      const BlockNode node = block_node<kCells>(t0 + b * Shape::kThreads, n, reciprocal);
      if (node.local < nodes) U[node.local * Shape::kCellStride + node.cell] = u[b];
    }
  }
  for (int t = thread; t < (padded - nodes) * kCells; t += Shape::kThreads) {
    U[(nodes + t / kCells) * Shape::kCellStride + t % kCells] = T{0};
  }

  using Product = WarpProduct<T, Shape::kRowsAWarp, Shape::kCellsAWarp>;
  const int warp_row = thread / kWarp / Shape::kWarpColumns * Shape::kRowsAWarp;
  const int warp_cell = thread / kWarp % Shape::kWarpColumns * Shape::kCellsAWarp;
  Product v{};
  for (int step = 0; step < steps; ++step) {
    __pipeline_wait_prior(0);
    // This step's tile and U are complete, and nobody reads the tile before any more.
    __syncthreads();
    if (step + 1 < steps) load_tile(step + 1);
    const int first_row = step / depth_steps * kRows + warp_row;
    const int first_column = step % depth_steps * kDepth;
    if (first_row < nodes) {
      v.add(tiles + step % 2 * kTileSize + warp_row, Shape::kRowStride,
            U + first_column * Shape::kCellStride + warp_cell, Shape::kCellStride,
            min(kDepth, padded - first_column));
    }
    if (nodes > kRows && first_column + kDepth >= nodes) {
#pragma unroll
      for (int e0 = 0; e0 < Product::kEntries; e0 += kBatch) {
        store_batch(args, places, first, table, [&](int b) {
          const int row = first_row + Product::row(e0 + b);
          const int cell = warp_cell + Product::cell(e0 + b);
          return BlockValue<T>{{row, row < nodes && cell < here ? cell : -1}, v.value[e0 + b]};
        });
      }
      v = Product{};
    }
  }
  if (nodes > kRows) return;

  // V takes the place of U, so that it is scattered in the order of the lattice.
  __syncthreads();
#pragma unroll
  for (int e = 0; e < Product::kEntries; ++e) {
    const int row = warp_row + Product::row(e);
    if (row < nodes) U[row * Shape::kCellStride + warp_cell + Product::cell(e)] = v.value[e];
  }
  __syncthreads();
  for (unsigned t0 = threadIdx.x; t0 < total; t0 += kBatch * Shape::kThreads) {
    store_batch(args, places, first, table, [&](int b) {
      const BlockNode node = block_node<kCells>(t0 + b * Shape::kThreads, n, reciprocal);
      if (node.local >= nodes || node.cell >= here) return BlockValue<T>{{0, -1}, T{0}};
      return BlockValue<T>{node, U[node.local * Shape::kCellStride + node.cell]};
    });
  }
}

// product_kernel() of some shape.
template <class T>
struct SharedProduct {
  void (*kernel)(LocalArguments<T>, const T*, const CellNode*) = nullptr;
  int cells = 0;
  int threads = 0;
  Index shared_bytes = 0;
  int most_nodes = 0;
};

constexpr int kAnyNodes = std::numeric_limits<int>::max();

template <class T, class Shape>
SharedProduct<T> make_product(int nodes, int most_nodes) {
  const Index values = static_cast<Index>(padded_nodes(nodes)) * Shape::kCellStride +
                       2 * Shape::kDepth * Shape::kRowStride;
  return {product_kernel<T, Shape>, Shape::kCells, Shape::kThreads,
          values * static_cast<Index>(sizeof(T)) +
              Shape::kCells * static_cast<Index>(sizeof(CellPlace)),
          most_nodes};
}

// The first that suits; without a kernel if u of the fewest cells does not fit.
template <class T>
SharedProduct<T> choose_product(int nodes, Index most_shared_bytes) {
  const SharedProduct<T> products[] = {
      make_product<T, ProductShape<16, 32, 1, 4, 16>>(nodes, 16),
      make_product<T, ProductShape<32, 32, 1, 4, 16>>(nodes, 32),
      make_product<T, ProductShape<32, 32, 2, 4, 16>>(nodes, 64),
      make_product<T, ProductShape<32, 32, 4, 8, 16>>(nodes, kAnyNodes),
      make_product<T, ProductShape<32, 16, 4, 8, 8>>(nodes, kAnyNodes),
      make_product<T, ProductShape<32, 8, 4, 8, 8>>(nodes, kAnyNodes)};
  for (const SharedProduct<T>& product : products) {
    if (nodes <= product.most_nodes && product.shared_bytes <= most_shared_bytes) return product;
  }
  return {};
}

Index most_shared_bytes() {
  int device = 0;
  int bytes = 0;
  check_cuda(cudaGetDevice(&device), "asking for the current GPU");
  check_cuda(cudaDeviceGetAttribute(&bytes, cudaDevAttrMaxSharedMemoryPerBlockOptin, device),
             "asking for the GPU's shared memory");
  return bytes;
}

// All there is, so that launches of other objects with the same kernel stay allowed.
template <class Kernel>
void allow_shared_memory(Kernel* kernel) {
  check_cuda(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                  static_cast<int>(most_shared_bytes())),
             "asking for shared memory");
}

unsigned blocks_for(Index items, Index items_a_block) {
  return static_cast<unsigned>(ceil_div(items, items_a_block));
}

// What both kernels are: the matrices and how they lie.
template <class T>
class DeviceLocal : public DeviceCellKernel<T> {
 public:
  void add_diagonal(const CellRange& range, T* d) const override {
    if (range.size() == 0) return;
    constexpr Index kMostBlocks = 1 << 20;
    const Index blocks = std::min(ceil_div(range.size() * nodes_, kThreads), kMostBlocks);
    add_diagonal_kernel<<<static_cast<unsigned>(blocks), kThreads, 0, device_stream()>>>(
        LocalArguments<T>{grid_, range, {}, {}, nodes_}, matrices_.data(), cell_stride_,
        entry_stride_, table_.data(), d);
    check_launch("diagonal of local matrices");
  }

  double flops_per_cell() const override { return 2.0 * nodes_ * nodes_; }
  Index bytes() const override { return matrices_.bytes() + table_.bytes(); }
  Index streamed_bytes() const override { return matrices_.bytes(); }

 protected:
  explicit DeviceLocal(const StiffnessForm& form)
      : grid_(make_cell_grid(form)),
        nodes_(form.discretization->lattice.nodes_per_cell()),
        is_shared_(factor_kind(form.discretization->mapping, form.coefficient) ==
                   FactorKind::constant),
        matrices_((is_shared_ ? 1 : all_cells(grid_).size()) * entries()),
        table_(nodes_) {
    fill_table_kernel<<<blocks_for(nodes_, kThreads), kThreads, 0, device_stream()>>>(
        grid_, nodes_, table_.data());
    check_launch("table of a cell's nodes");
  }

  Index entries() const { return static_cast<Index>(nodes_) * nodes_; }

  // matrices[cell of the range][j][i] = K_c[i][j].
  void compute(const DeviceCellKernel<T>& kernel, const CellRange& range, T* matrices) const {
    for (int j = 0; j < nodes_; ++j) {
      kernel.apply(
          range, {nullptr, j},
          {SinkKind::cells, matrices + static_cast<Index>(j) * nodes_, nullptr, entries()});
    }
  }

  LocalArguments<T> arguments(const CellRange& range, const CellSource<T>& source,
                              const CellSink<T>& sink) const {
    if (sink.kind == SinkKind::patch) {
      throw std::invalid_argument("local matrices have no patches: use another scatter");
    }
    return {grid_, range, source, sink, nodes_};
  }

  CellGrid grid_;
  int nodes_;
  bool is_shared_;
  DeviceArray<T> matrices_;
  DeviceArray<CellNode> table_;
  // As add_diagonal_kernel() takes them.
  Index cell_stride_ = 0;
  Index entry_stride_ = 1;
};

template <class T>
class DeviceLocalKernel final : public DeviceLocal<T> {
 public:
  DeviceLocalKernel(const StiffnessForm& form, const DeviceCellKernel<T>& kernel)
      : DeviceLocal<T>(form) {
    const CellRange one_cell{{0, 0, 0}, {1, 1, 1}, 1};
    this->compute(kernel, this->is_shared_ ? one_cell : all_cells(this->grid_),
                  this->matrices_.data());
    if (this->is_shared_) {
      product_ = choose_product<T>(this->nodes_, most_shared_bytes());
    } else {
      this->cell_stride_ = this->entries();
    }
    if (product_.kernel != nullptr) {
      allow_shared_memory(product_.kernel);
      return;
    }
    cells_ = std::max(1, kThreads / this->nodes_);
    threads_ =
        std::min(kMostThreads, static_cast<int>(ceil_div(cells_ * this->nodes_, kWarp)) * kWarp);
    const Index wanted = cells_ * static_cast<Index>(sizeof(CellPlace) +
                                                     streamed_nodes<T>(this->nodes_) * sizeof(T));
    if (wanted > most_shared_bytes()) {
      throw DeviceError("the kernel local needs " + std::to_string(wanted >> 10) +
                        " KiB of shared memory for this degree, this GPU has " +
                        std::to_string(most_shared_bytes() >> 10) + " KiB; use another kernel");
    }
    allow_shared_memory(stream_kernel<T>);
  }

  void apply(const CellRange& range, const CellSource<T>& source,
             const CellSink<T>& sink) const override {
    const LocalArguments<T> args = this->arguments(range, source, sink);
    if (range.size() == 0) return;
    if (product_.kernel != nullptr) {
      product_.kernel<<<blocks_for(range.size(), product_.cells), product_.threads,
                        static_cast<std::size_t>(product_.shared_bytes), device_stream()>>>(
          args, this->matrices_.data(), this->table_.data());
      check_launch("product with a shared local matrix");
      return;
    }
    const std::size_t shared_bytes =
        cells_ * (sizeof(CellPlace) + streamed_nodes<T>(this->nodes_) * sizeof(T));
    stream_kernel<<<blocks_for(range.size(), cells_), threads_, shared_bytes, device_stream()>>>(
        args, this->matrices_.data(), this->cell_stride_, this->table_.data(), cells_);
    check_launch("products with local matrices");
  }

 private:
  SharedProduct<T> product_;
  // A block of stream_kernel(), which also serves shared matrices too large for product_kernel().
  int cells_ = 0;
  int threads_ = 0;
};

template <class T>
class DeviceLocalThreadKernel final : public DeviceLocal<T> {
 public:
  DeviceLocalThreadKernel(const StiffnessForm& form, const DeviceCellKernel<T>& kernel)
      : DeviceLocal<T>(form) {
    if (this->is_shared_) {
      this->compute(kernel, {{0, 0, 0}, {1, 1, 1}, 1}, this->matrices_.data());
      return;
    }
    this->cell_stride_ = 1;
    this->entry_stride_ = all_cells(this->grid_).size();
    fill(kernel);
  }

  void apply(const CellRange& range, const CellSource<T>& source,
             const CellSink<T>& sink) const override {
    const LocalArguments<T> args = this->arguments(range, source, sink);
    if (range.size() == 0) return;
    thread_kernel<<<blocks_for(range.size(), kCellThreads), kCellThreads, 0, device_stream()>>>(
        args, this->matrices_.data(), this->cell_stride_, this->entry_stride_, this->table_.data());
    check_launch("local matrices by one thread a cell");
  }

 private:
  // Computes and transposes boxes of cells that are neighbors in the numbering, too: layers, rows
  // of one layer, or cells of one row.
  void fill(const DeviceCellKernel<T>& kernel) {
    const int(&cells)[3] = this->grid_.cells;
    const Index matrix_bytes = this->entries() * static_cast<Index>(sizeof(T));
    const Index most = std::max<Index>(1, kLocalScratchBytes / matrix_bytes);
    const Index row = cells[0];
    const Index layer = row * cells[1];
    const int count[3] = {
        static_cast<int>(std::min(row, most)),
        most < row ? 1 : static_cast<int>(std::min<Index>(cells[1], most / row)),
        most < layer ? 1 : static_cast<int>(std::min<Index>(cells[2], most / layer))};
    DeviceArray<T> scratch(CellRange{{0, 0, 0}, {count[0], count[1], count[2]}, 1}.size() *
                           this->entries());
    for (int z = 0; z < cells[2]; z += count[2]) {
      for (int y = 0; y < cells[1]; y += count[1]) {
        for (int x = 0; x < cells[0]; x += count[0]) {
          const CellRange chunk{{x, y, z},
                                {std::min(count[0], cells[0] - x), std::min(count[1], cells[1] - y),
                                 std::min(count[2], cells[2] - z)},
                                1};
          this->compute(kernel, chunk, scratch.data());
          const Index tiles = ceil_div(this->entries(), kTile) * ceil_div(chunk.size(), kTile);
          transpose_kernel<<<static_cast<unsigned>(tiles), dim3(kTile, kTileRows), 0,
                             device_stream()>>>(
              scratch.data(), this->entries(), chunk.size(), this->entry_stride_,
              this->matrices_.data() + number_in_mesh(this->grid_, chunk.first));
          check_launch("transposition of local matrices");
        }
      }
    }
    // Before the scratch goes.
    synchronize_device();
  }
};

}  // namespace

template <class T>
std::unique_ptr<DeviceCellKernel<T>> make_device_local_kernel(const StiffnessForm& form,
                                                              const DeviceCellKernel<T>& kernel) {
  return std::make_unique<DeviceLocalKernel<T>>(form, kernel);
}

template <class T>
std::unique_ptr<DeviceCellKernel<T>> make_device_local_thread_kernel(
    const StiffnessForm& form, const DeviceCellKernel<T>& kernel) {
  return std::make_unique<DeviceLocalThreadKernel<T>>(form, kernel);
}

template std::unique_ptr<DeviceCellKernel<double>> make_device_local_kernel(
    const StiffnessForm&, const DeviceCellKernel<double>&);
template std::unique_ptr<DeviceCellKernel<float>> make_device_local_kernel(
    const StiffnessForm&, const DeviceCellKernel<float>&);
template std::unique_ptr<DeviceCellKernel<double>> make_device_local_thread_kernel(
    const StiffnessForm&, const DeviceCellKernel<double>&);
template std::unique_ptr<DeviceCellKernel<float>> make_device_local_thread_kernel(
    const StiffnessForm&, const DeviceCellKernel<float>&);

}  // namespace tessera
