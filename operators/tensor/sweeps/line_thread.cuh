// A LineThread is one of the threads of a 3D cell that have a line each.
#pragma once

#include "operators/cells/cell_access.cuh"
#include "operators/tensor/sweeps/line_shapes.hpp"

namespace tessera {

/// Shape of a launch with a thread a line of a cell. Up to M = 5 the M^2 lines of a cell fit in a
/// warp: warps of kCellsPerWarp cells work without barriers of the block. Above, a block has kRows
/// cells, and where LineTableRow::lanes > M some threads of a cell have no line. T says whose
/// table.
template <class T, int M>
struct LineShape {
  static constexpr LineTableRow kTable = line_table_row<T>(M);
  static constexpr bool kInWarp = M * M <= 32;
  static constexpr int kCellsPerWarp = kInWarp ? 32 / (M * M) : 1;
  static constexpr int kRows = kTable.rows;  // threadIdx.y: warps or cells
  static constexpr int kCells = kRows * kCellsPerWarp;
  static constexpr int kLanes = kTable.lanes;
  static_assert(kLanes >= M);
  static constexpr int kColumns = kInWarp ? 32 : kLanes * (M - 1) + M;  // threadIdx.x
};

/// The tensors of a cell in shared memory.
template <class T, int M>
struct LineBox {
  static constexpr LineTableRow kTable = line_table_row<T>(M);
  static constexpr int row = kTable.row;
  static constexpr int plane = kTable.plane;
  static constexpr int size = M * plane;
  static_assert(row >= M && plane >= (M - 1) * row + M);
  /// Of three tensors, from one cell to the next.
  static constexpr int kCellValues = 3 * size + kTable.apart;
};

/// One thread of a cell of M^2 lines: it has the lines along z with (x, y) = (a, b), along x with
/// (y, z) = (a, b) and along y with (x, z) = (a, b).
template <class T, int P, int M>
struct LineThread {
  using Shape = LineShape<T, M>;
  using Box = LineBox<T, M>;

  int local;  // number of its cell in the block
  int line;   // a + M b
  int a;
  int b;
  bool active;     // it has a line of points
  bool has_nodes;  // its line along z is one of nodes

  /// @param cells of the range, of which the block has kCells from blockIdx.x kCells on
  __device__ __forceinline__ explicit LineThread(Index cells) {
    const int in_warp = Shape::kInWarp ? static_cast<int>(threadIdx.x) / (M * M) : 0;
    const bool has_cell = in_warp < Shape::kCellsPerWarp;
    local = static_cast<int>(threadIdx.y) * Shape::kCellsPerWarp + (has_cell ? in_warp : 0);
    // The second way is right here as well, but 5 % slower at p = 4.
    if constexpr (Shape::kLanes == M) {
      line = static_cast<int>(threadIdx.x) % (M * M);
      a = line % M;
      b = line / M;
      active = has_cell && number() < cells;
    } else {
      static_assert(!Shape::kInWarp);
      a = static_cast<int>(threadIdx.x) % Shape::kLanes;
      b = static_cast<int>(threadIdx.x) / Shape::kLanes;
      line = a + M * b;
      active = a < M && number() < cells;
    }
    has_nodes = active && a <= P && b <= P;
  }

  /// Of its cell in the range.
  __device__ __forceinline__ unsigned number() const {
    return blockIdx.x * static_cast<unsigned>(Shape::kCells) + static_cast<unsigned>(local);
  }
  __device__ __forceinline__ int along_x() const { return b * Box::plane + a * Box::row; }
  __device__ __forceinline__ int along_y() const { return b * Box::plane + a; }
  __device__ __forceinline__ int along_z() const { return b * Box::row + a; }

  /// Waits for the threads of the cell.
  __device__ static __forceinline__ void synchronize() {
    if constexpr (Shape::kInWarp) {
      __syncwarp();
    } else {
      __syncthreads();
    }
  }
};

/// The cell number `number` of a range with less than 2^32 cells.
__device__ __forceinline__ CellPlace place_cell_32(const CellGrid& grid, const CellRange& range,
                                                   unsigned number) {
  const unsigned row = number / static_cast<unsigned>(range.count[0]);
  const unsigned iz = row / static_cast<unsigned>(range.count[1]);
  return place_cell(grid, range, static_cast<int>(number - row * range.count[0]),
                    static_cast<int>(row - iz * range.count[1]), static_cast<int>(iz));
}

/// (x, y, z) = D (x, y, z) at one point, with D as xx xy xz yy yz zz.
template <class T>
__device__ __forceinline__ void multiply_symmetric(const T (&d)[6], T& x, T& y, T& z) {
  const T gx = x;
  const T gy = y;
  const T gz = z;
  x = d[0] * gx + d[1] * gy + d[2] * gz;
  y = d[1] * gx + d[3] * gy + d[4] * gz;
  z = d[2] * gx + d[4] * gy + d[5] * gz;
}

}  // namespace tessera
