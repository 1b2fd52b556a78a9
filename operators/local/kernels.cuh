// These kernels multiply by a matrix per cell, and by one thread per cell.
#pragma once

#include "operators/cells/cell_access.cuh"
#include "solvers/memory/launch.cuh"
#include "solvers/memory/warp.cuh"

namespace tessera {
namespace {

// The kernels of local.cu for matrices of cells of their own and for one thread a cell; no other
// file includes this.

constexpr int kMaxThreads = 1024;
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

// As place_cell(), with 32-bit divisions where the numbers are so short, which are much faster.
__device__ CellPlace place_numbered(const CellGrid& grid, const CellRange& range, Index number) {
  if (range.size() > Index{0xffffffff}) return place_cell(grid, range, number);
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
  for (Index t = thread_number<kThreads>(); t < total; t += thread_count<kThreads>()) {
    const CellPlace place = place_numbered(args.grid, args.range, t / args.nodes);
    const Index i = t % args.nodes;
    d[place.first_node + table[i].lattice] +=
        matrices[cell_number(args.grid, place.position) * cell_stride +
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
  const Index number = thread_number<kCellThreads>();
  if (number >= args.range.size()) return;
  const CellPlace place = place_numbered(args.grid, args.range, number);
  const T* entry = matrices + cell_number(args.grid, place.position) * cell_stride;
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
__global__ void __launch_bounds__(kMaxThreads)
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
    matrix += cell_number(args.grid, place.position) * matrix_stride;
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

}  // namespace
}  // namespace tessera
