// This kernel multiplies one matrix of all cells by many cells, with tensor cores in double
// precision.
#pragma once

#include <cuda_pipeline_primitives.h>

#include <algorithm>

#include "operators/cells/device_generation.cuh"
#include "operators/local/kernels.cuh"

namespace tessera {
namespace {

// The kernel of local.cu for one matrix of all cells; no other file includes this.

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
// rows_per_warp x cells_per_warp of the product; K passes through shared memory in tiles of kRows
// rows and kDepth columns.
template <int rows_per_warp, int cells_per_warp, int warp_rows, int warps, int depth>
struct ProductShape {
  static constexpr int kRowsPerWarp = rows_per_warp;
  static constexpr int kCellsPerWarp = cells_per_warp;
  static constexpr int kWarpColumns = warps / warp_rows;
  static constexpr int kThreads = warps * kWarp;
  static constexpr int kRows = rows_per_warp * warp_rows;
  static constexpr int kCells = cells_per_warp * kWarpColumns;
  static constexpr int kDepth = depth;
  // Of rows of K's tiles and of U in shared memory, against bank conflicts.
  static constexpr int kRowStride = kRows + 4;
  static constexpr int kCellStride = kCells + 4;
  static constexpr int kBlocksPerMultiprocessor = 512 / kThreads;
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
__global__ void __launch_bounds__(Shape::kThreads, Shape::kBlocksPerMultiprocessor)
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

  using Product = WarpProduct<T, Shape::kRowsPerWarp, Shape::kCellsPerWarp>;
  const int warp_row = thread / kWarp / Shape::kWarpColumns * Shape::kRowsPerWarp;
  const int warp_cell = thread / kWarp % Shape::kWarpColumns * Shape::kCellsPerWarp;
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

}  // namespace
}  // namespace tessera
