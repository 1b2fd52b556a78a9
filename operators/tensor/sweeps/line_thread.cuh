// A LineThread is one of the threads of a 3D cell that have a line each.
#pragma once

#include "operators/cells/cell_access.cuh"
#include "operators/tensor/sweeps/line_shapes.hpp"
#include "solvers/memory/launch.cuh"

namespace tessera {

/// Shape of a launch with a thread a line of a cell. T says whose table.
template <class T, int M, LineSweep sweep = kLineSweep<T>>
struct LineShape {
  static constexpr LineShapeRow kRow = line_shape_row<T>(M, sweep);
  static constexpr int kGroups = kRow.groups;  // threadIdx.y
  static constexpr int kCells = kGroups * kRow.cells;
  static constexpr bool kInWarp = kRow.lanes * M * kRow.cells <= 32;
  static constexpr int kColumns =
      kInWarp ? 32 : kRow.lanes * (M * kRow.cells - 1) + M;  // threadIdx.x
  static constexpr int kThreads = kColumns * kGroups;        // of a block
  static_assert(kRow.lanes >= M && (kInWarp || kGroups == 1));

  static Launch over_cells(const char* name, Index cells) {
    return {name, blocks_for(cells, kCells), dim3(kColumns, kGroups)};
  }
};

/// One thread of a cell of M^2 lines: it has the lines along z with (x, y) = (a, b), along x with
/// (y, z) = (a, b) and along y with (x, z) = (a, b).
template <class T, int P, int M, LineSweep sweep = kLineSweep<T>>
struct LineThread {
  using Shape = LineShape<T, M, sweep>;
  static constexpr LineStrides kPairs = pair_strides<T>(M);

  int in_group;  // number of its cell in its group
  int a;
  int b;
  bool active;     // it has a line of points
  bool has_nodes;  // its line along z is one of nodes

  /// @param cells of the range, of which the block has kCells from blockIdx.x kCells on
  __device__ __forceinline__ explicit LineThread(Index cells) {
    constexpr LineShapeRow kRow = Shape::kRow;
    const int t = static_cast<int>(threadIdx.x);
    const int row = t / kRow.lanes;
    a = t % kRow.lanes;
    if constexpr (kRow.order == LineOrder::by_rows) {
      in_group = row % kRow.cells;
      b = row / kRow.cells;
    } else {
      in_group = row / M;
      b = row % M;
    }
    const bool has_line = a < M && b < M && in_group < kRow.cells;
    if (!has_line) in_group = 0;
    active = has_line && number() < cells;
    has_nodes = active && a <= P && b <= P;
  }

  /// Of its cell in the range.
  __device__ __forceinline__ unsigned number() const {
    return blockIdx.x * static_cast<unsigned>(Shape::kCells) +
           threadIdx.y * static_cast<unsigned>(Shape::kRow.cells) + static_cast<unsigned>(in_group);
  }
  /// Where its lines begin in a tensor.
  __device__ __forceinline__ int along_x(LineStrides tensor) const {
    return a * tensor.y_step + b * tensor.z_step;
  }
  __device__ __forceinline__ int along_y(LineStrides tensor) const { return a + b * tensor.z_step; }
  __device__ __forceinline__ int along_z(LineStrides tensor) const { return a + b * tensor.y_step; }

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
