// These kernels prolongate and restrict between lattices whose cells are all alike.
#pragma once

#include <cuda_pipeline.h>

#include <type_traits>

#include "operators/multigrid/cell_transfer.hpp"
#include "operators/multigrid/repeated_cells.hpp"

namespace tessera {
namespace {

// The kernels of cell_transfer.cu, which alone includes this.

constexpr int kLanes = 32;
constexpr int kTransferThreads = 128;

// Cells along y whose nodes a thread has: 6 or 8 lines of the finer lattice.
constexpr int prolonged_cells(int p) { return p > 2 ? 1 : 4 / p; }
// Those whose coarser nodes it has: 8 or 9 lines.
constexpr int restricted_cells(int p) { return p == 3 ? 3 : 8 / p; }
// Cells along x of a block that restricts: it has the nodes of one more, which lies before these.
constexpr int restricted_cells_x(int p) { return kTransferThreads / (2 * p) - 1; }

// The part of the mesh that a block has, in cells.
struct CellBlock {
  int x;  // the block's number along x
  int y;  // and along y
  int z_begin, z_end;
};

template <class Arguments>
__device__ CellBlock cell_block(const Arguments& a) {
  const unsigned line_of_blocks = blockIdx.x / a.blocks_x;
  const unsigned stretch = line_of_blocks / a.blocks_y;
  const int z_begin = static_cast<int>(stretch) * a.stretch;
  return {static_cast<int>(blockIdx.x - line_of_blocks * a.blocks_x),
          static_cast<int>(line_of_blocks - stretch * a.blocks_y), z_begin,
          min(z_begin + a.stretch, a.cells[2])};
}

// Whether node i of n of the coarser lattice along axis d is not masked.
template <class Arguments>
__device__ bool has_value(const Arguments& a, int d, int i, int n) {
  return !((i == 0 && (a.masked >> (2 * d) & 1u)) ||
           (i == n - 1 && (a.masked >> (2 * d + 1) & 1u)));
}

// The value at node r of a cell by those at its coarser nodes. @param value value(k)
template <class T, int p, class Value>
__device__ __forceinline__ T interpolated(const CellTransferArguments<T, p>& a, int r,
                                          const Value& value) {
  if (coarser_node(p, r) >= 0) return value(coarser_node(p, r));
  T sum{0};
#pragma unroll
  for (int k = 0; k <= p; ++k) sum += a.entries[r][k] * value(k);
  return sum;
}

// Adds what coarser node k of a cell gets from its node r.
template <class T, int p>
__device__ __forceinline__ void add_restricted(const CellTransferArguments<T, p>& a, int r, int k,
                                               T value, T& sum) {
  if (coarser_node(p, r) < 0) {
    sum += a.entries[r][k] * value;
  } else if (coarser_node(p, r) == k) {
    sum += value;
  }
}

// What a warp that prolongates has in shared memory.
template <class T, int p>
struct ProlongationRoom {
  static constexpr int kCells = prolonged_cells(p);
  static constexpr int kLines = 2 * p * kCells;
  static constexpr int kCoarseLines = p * kCells + 1;
  // Coarser nodes along x that 32 nodes in a row depend on, at most.
  static constexpr int kReads = 20;
  static constexpr int kPlanesAtATime = sizeof(T) > 4 ? 4 : 6;
  // Values of lines lie together, in pieces of 16 bytes.
  static constexpr int kPiece = 16 / sizeof(T);
  static constexpr int kPieces = (kLines + kPiece - 1) / kPiece;
  struct alignas(16) Piece {
    T values[kPiece];
  };

  // P_y coarse; two planes take turns, so that a lane that is ahead writes nothing that is read.
  Piece along_y[2][kReads][kPieces];
  // Values on their way, of which a lane has its own: of fine, and of the coarser planes of a cell.
  T fine[kPlanesAtATime][kLines][kLanes];
  T coarse[2][p][kCoarseLines][kReads];
};

// fine += P coarse. A thread has lines of the finer lattice along z, at one x and at those y that
// lie in the block's cells, and keeps the values of P_y P_x coarse at the planes of a cell; a warp
// has 32 neighbors along x. Values of fine are asked for some planes ahead, those of coarse a
// cell. Launch: a block of 128 threads for each 128 nodes along x, prolonged_cells(p) cells along
// y, the last node along an axis being a cell of its own, and each stretch of cells along z; along
// x fastest. Shared memory: a ProlongationRoom for each warp. Least bytes: coarse once, fine read
// and written once. Flops an output value: 2 (p + 1) (1 + 1 / 2 + 1 / 2) and less. Deterministic.
template <class T, int p>
__global__ void __launch_bounds__(kTransferThreads, sizeof(T) > 4 ? 3 : 5)
    prolong_cells_kernel(const __grid_constant__ CellTransferArguments<T, p> a,
                         const T* __restrict__ coarse, T* __restrict__ fine) {
  using Room = ProlongationRoom<T, p>;
  constexpr int n = 2 * p;
  constexpr int kLines = Room::kLines;
  constexpr int kCoarseLines = Room::kCoarseLines;
  constexpr int kAhead = Room::kPlanesAtATime;
  extern __shared__ __align__(16) double shared[];

  const CellBlock block = cell_block(a);
  const int lane = static_cast<int>(threadIdx.x) % kLanes;
  const int warp = static_cast<int>(threadIdx.x) / kLanes;
  Room& room = reinterpret_cast<Room*>(shared)[warp];
  const int fine_x = n * a.cells[0] + 1;
  const int fine_y = n * a.cells[1] + 1;
  const int coarse_x = p * a.cells[0] + 1;
  const int coarse_y = p * a.cells[1] + 1;
  const int coarse_z = p * a.cells[2] + 1;
  const int warp_x = block.x * kTransferThreads + warp * kLanes;
  if (warp_x >= fine_x) return;
  const int x = warp_x + lane;
  const int y0 = block.y * kLines;
  const int line_end = x < fine_x ? min(kLines, fine_y - y0) : 0;
  const bool is_last = block.z_end == a.cells[2];
  const int plane_end = n * block.z_end + (is_last ? 1 : 0);

  // A lane reads the values at coarser node read_x, and needs those from node first_x on.
  const int first_read = warp_x / n * p;
  const int read_x = first_read + lane;
  const int read_y = block.y * Room::kCells * p;
  const bool reads = lane < Room::kReads && read_x < coarse_x && has_value(a, 0, read_x, coarse_x);
  const int first_line = has_value(a, 1, read_y, coarse_y) ? 0 : 1;
  const int last_line = min(kCoarseLines, coarse_y - read_y) - 1;
  const int read_end = !reads                                          ? 0
                       : has_value(a, 1, read_y + last_line, coarse_y) ? last_line + 1
                                                                       : last_line;
  const T* const in = coarse + static_cast<Index>(read_y) * coarse_x + read_x;
  const int first_x = x / n * p - first_read;
  T entries_x[p + 1];
#pragma unroll
  for (int k = 0; k <= p; ++k) entries_x[k] = a.entries[x % n][k];

  // Asks for the coarser plane, or sets 0 where there are no values.
  const auto ask_for_coarse = [&](int z, T* to) {
    if (lane >= Room::kReads) return;
    const T* const in_plane = in + static_cast<Index>(z) * coarse_y * coarse_x;
    const int end = has_value(a, 2, z, coarse_z) ? read_end : 0;
#pragma unroll
    for (int j = 0; j < kCoarseLines; ++j) {
      T* const own = to + j * Room::kReads + lane;
      if (j >= first_line && j < end) {
        __pipeline_memcpy_async(own, in_plane + j * coarse_x, sizeof(T));
      } else {
        *own = T{0};
      }
    }
  };
  const auto ask_for_cell = [&](int z) {
#pragma unroll
    for (int k = 1; k <= p; ++k) ask_for_coarse(p * z + k, &room.coarse[z & 1][k - 1][0][0]);
  };
  const Index plane_size = static_cast<Index>(fine_y) * fine_x;
  const T* ahead = fine + (static_cast<Index>(n) * block.z_begin * fine_y + y0) * fine_x + x;
  const auto ask_for_fine = [&](int plane) {
    if (plane < plane_end) {
#pragma unroll
      for (int line = 0; line < kLines; ++line) {
        if (line < line_end) {
          __pipeline_memcpy_async(&room.fine[plane % kAhead][line][lane], ahead + line * fine_x,
                                  sizeof(T));
        }
      }
    }
    ahead += plane_size;
  };

  T planes[p + 1][kLines];  // P_y P_x coarse
  const auto take_plane = [&](int z, const T* own, T(&plane)[kLines]) {
    typename Room::Piece(&along_y)[Room::kReads][Room::kPieces] = room.along_y[z & 1];
    typename Room::Piece pieces[Room::kPieces] = {};
    if (lane < Room::kReads) {
      T values[kCoarseLines];
#pragma unroll
      for (int j = 0; j < kCoarseLines; ++j) values[j] = own[j * Room::kReads + lane];
#pragma unroll
      for (int line = 0; line < kLines; ++line) {
        pieces[line / Room::kPiece].values[line % Room::kPiece] =
            interpolated(a, line % n, [&](int k) { return values[line / n * p + k]; });
      }
#pragma unroll
      for (int i = 0; i < Room::kPieces; ++i) along_y[lane][i] = pieces[i];
    }
    __syncwarp();
#pragma unroll
    for (int k = 0; k <= p; ++k) {
#pragma unroll
      for (int i = 0; i < Room::kPieces; ++i) pieces[i] = along_y[first_x + k][i];
#pragma unroll
      for (int line = 0; line < kLines; ++line) {
        const T value = pieces[line / Room::kPiece].values[line % Room::kPiece];
        plane[line] = (k == 0 ? T{0} : plane[line]) + entries_x[k] * value;
      }
    }
  };

  const int plane_begin = n * block.z_begin;
  T* const first = &room.coarse[(block.z_begin + 1) & 1][0][0][0];
  ask_for_coarse(p * block.z_begin, first);
  ask_for_cell(block.z_begin);
#pragma unroll
  for (int i = 0; i + 1 < kAhead; ++i) {
    ask_for_fine(plane_begin + i);
    __pipeline_commit();
  }
  T* out = fine + (static_cast<Index>(plane_begin) * fine_y + y0) * fine_x + x;
  for (int z = block.z_begin; z < block.z_end; ++z) {
    // What came after the cell's coarser planes may be on its way.
    __pipeline_wait_prior(n - 1 < kAhead - 2 ? n - 1 : kAhead - 2);
    if (z == block.z_begin) take_plane(p * z, first, planes[0]);
#pragma unroll
    for (int k = 1; k <= p; ++k) take_plane(p * z + k, &room.coarse[z & 1][k - 1][0][0], planes[k]);
    if (z + 1 < block.z_end) ask_for_cell(z + 1);
#pragma unroll
    for (int r = 0; r < n; ++r) {
      const int plane = n * z + r;
      if (r > 0) __pipeline_wait_prior(kAhead - 2);
#pragma unroll
      for (int line = 0; line < kLines; ++line) {
        const T sum = interpolated(a, r, [&](int k) { return planes[k][line]; });
        if (line < line_end) out[line * fine_x] = room.fine[plane % kAhead][line][lane] + sum;
      }
      out += plane_size;
      ask_for_fine(plane + kAhead - 1);
      __pipeline_commit();
    }
#pragma unroll
    for (int line = 0; line < kLines; ++line) planes[0][line] = planes[p][line];
  }
  if (is_last) {
    __pipeline_wait_prior(kAhead - 2);
#pragma unroll
    for (int line = 0; line < kLines; ++line) {
      if (line < line_end) {
        out[line * fine_x] = room.fine[(plane_end - 1) % kAhead][line][lane] + planes[0][line];
      }
    }
  }
}

// coarse = P^T fine. A thread has columns of the finer lattice along z, at one x and at the y that
// the block's coarser nodes depend on: of each plane it makes sums along y, of which it keeps those
// that belong to the p + 1 coarser planes of a cell. A cell's planes go through shared memory for
// the sums along x.
// Launch: a block of 128 threads for each a.width cells along x, restricted_cells(p) cells along y,
// the last node along y being a cell of its own, and each stretch of cells along z; along x
// fastest. Shared memory: static, p planes [lines][128]. Least bytes: fine and coarse once. Flops
// an input value: some 2 (p + 1) (1 + 1 / 2 + 1 / 4). Deterministic.
template <class T, int p>
__global__ void __launch_bounds__(kTransferThreads, sizeof(T) > 4 ? 2 : 4)
    restrict_cells_kernel(const __grid_constant__ CellTransferArguments<T, p> a,
                          const T* __restrict__ fine, T* __restrict__ coarse) {
  constexpr int n = 2 * p;
  constexpr int kCells = restricted_cells(p);
  constexpr int kLines = p * kCells;
  constexpr int kFineLines = n * (kCells + 1) - 1;
  constexpr int kCellsX = restricted_cells_x(p);
  // Columns begin with node 1 of the cell before.
  __shared__ alignas(16) T shared[p][kLines][kTransferThreads];

  const CellBlock block = cell_block(a);
  const int column = static_cast<int>(threadIdx.x);
  const int fine_x = n * a.cells[0] + 1;
  const int fine_y = n * a.cells[1] + 1;
  const int coarse_x = p * a.cells[0] + 1;
  const int coarse_y = p * a.cells[1] + 1;
  const int coarse_z = p * a.cells[2] + 1;
  const int cell_x = block.x * a.width;
  const int cell_y = block.y * kCells;
  // The last block has the last node, too.
  const int cells_x = cell_x + a.width < a.cells[0] ? a.width : a.cells[0] - cell_x + 1;
  const int x = n * cell_x - (n - 1) + column;
  const int y0 = n * cell_y - (n - 1);
  const bool reads = x >= 0 && x < fine_x && column < n * (a.width + 1);
  const int line_begin = max(0, -y0);
  const int line_end = reads ? min(kFineLines, fine_y - y0) : 0;
  const Index plane_size = static_cast<Index>(fine_y) * fine_x;
  const int z_first = max(block.z_begin - 1, 0);
  const T* in = fine + (static_cast<Index>(n) * z_first * fine_y + y0) * fine_x + x;
  const auto load = [&](T(&values)[kFineLines]) {
#pragma unroll
    for (int i = 0; i < kFineLines; ++i) {
      values[i] = i >= line_begin && i < line_end ? in[i * fine_x] : T{0};
    }
    in += plane_size;
  };
  // The sum of a plane along y that coarser line `line` gets. Values begin with node 1 of the cell
  // before the first.
  const auto along_y = [&](const T(&values)[kFineLines], int line) {
    const int before = line / p * n - 1;
    const int own = before + n;
    const int k = line % p;
    T sum = k == 0 ? values[own] : T{0};
#pragma unroll
    for (int r = 1; r < n; ++r) {
      if (k == 0) add_restricted(a, r, p, values[before + r], sum);
      add_restricted(a, r, k, values[own + r], sum);
    }
    return sum;
  };

  T sums[kLines][p + 1] = {};
  // Planes from coarser plane z on, whose sums are complete, are summed along x and written.
  const auto finish = [&](int z, auto plane_count) {
    constexpr int kPlanes = decltype(plane_count)::value;
#pragma unroll
    for (int k = 0; k < kPlanes; ++k) {
#pragma unroll
      for (int line = 0; line < kLines; ++line) shared[k][line][column] = sums[line][k];
    }
    __syncthreads();
    constexpr int kItems = (kCellsX + 1) * kLines * kPlanes;
    for (int item = column; item < kItems; item += kTransferThreads) {
      const int cell = item % (kCellsX + 1);
      const int line = item / (kCellsX + 1) % kLines;
      const int k_z = item / ((kCellsX + 1) * kLines);
      const int to_y = p * cell_y + line;
      if (cell >= cells_x || to_y >= coarse_y) continue;
      // Of the cell before and its own; the last node has none of its own.
      const bool has_cell = cell_x + cell < a.cells[0];
      T values[2 * n];
      const T* const from = &shared[k_z][line][n * cell];
#pragma unroll
      for (int i = 0; i + 1 < 2 * n; ++i) values[i] = i < n || has_cell ? from[i] : T{0};
      const int to_z = z + k_z;
      const bool has_plane = has_value(a, 1, to_y, coarse_y) && has_value(a, 2, to_z, coarse_z);
      T* const to = coarse + (static_cast<Index>(to_z) * coarse_y + to_y) * coarse_x;
#pragma unroll
      for (int k = 0; k < p; ++k) {
        T sum = k == 0 ? values[n - 1] : T{0};
#pragma unroll
        for (int r = 1; r < n; ++r) {
          if (k == 0) add_restricted(a, r, p, values[r - 1], sum);
          add_restricted(a, r, k, values[n - 1 + r], sum);
        }
        const int to_x = p * (cell_x + cell) + k;
        if (to_x < coarse_x) to[to_x] = has_plane && has_value(a, 0, to_x, coarse_x) ? sum : T{0};
      }
    }
    __syncthreads();
  };

  T ahead[kFineLines];
  load(ahead);
  for (int z = z_first; z < block.z_end; ++z) {
#pragma unroll
    for (int r = 0; r < n; ++r) {
      T values[kFineLines];
#pragma unroll
      for (int i = 0; i < kFineLines; ++i) values[i] = ahead[i];
      // The plane after a cell is there always.
      load(ahead);
#pragma unroll
      for (int line = 0; line < kLines; ++line) {
        const T sum = along_y(values, line);
#pragma unroll
        for (int k = 0; k <= p; ++k) add_restricted(a, r, k, sum, sums[line][k]);
      }
    }
    if (z >= block.z_begin) finish(p * z, std::integral_constant<int, p>());
#pragma unroll
    for (int line = 0; line < kLines; ++line) {
      sums[line][0] = sums[line][p];
#pragma unroll
      for (int k = 1; k <= p; ++k) sums[line][k] = T{0};
    }
  }
  if (block.z_end == a.cells[2]) {
#pragma unroll
    for (int line = 0; line < kLines; ++line) sums[line][0] += along_y(ahead, line);
    finish(p * a.cells[2], std::integral_constant<int, 1>());
  }
}

}  // namespace
}  // namespace tessera
