// These are the sweeps of a 3D cell with one thread per line.
#pragma once

#include "operators/tensor/gpu/launch_shapes.hpp"
#include "operators/tensor/gpu/tensor_3d.cuh"
#include "operators/tensor/gpu/weighted_matrices.cuh"

namespace tessera {

/// Shape of a launch with a thread a line of a cell. Up to M = 5 the M^2 lines of a cell fit in a
/// warp: warps of kCellsPerWarp cells work without barriers of the block. Above, a block has kRows
/// cells, and where LineLayout::lanes > M some threads of a cell have no line.
template <int M>
struct LineShape {
  static constexpr bool kInWarp = M * M <= 32;
  static constexpr int kCellsPerWarp = kInWarp ? 32 / (M * M) : 1;
  static constexpr int kRows = kLineRows[M - 2].rows;  // threadIdx.y: warps or cells
  static constexpr int kCells = kRows * kCellsPerWarp;
  static constexpr int kLanes = kLineLayouts[M - 2].lanes;
  static_assert(kLanes >= M);
  static constexpr int kColumns = kInWarp ? 32 : kLanes * (M - 1) + M;  // threadIdx.x
};

/// The tensors of a cell, in the layout of kLineLayouts.
template <int M>
struct LineBox {
  static constexpr int row = kLineLayouts[M - 2].row;
  static constexpr int plane = kLineLayouts[M - 2].plane;
  static constexpr int size = M * plane;
  static_assert(row >= M && plane >= (M - 1) * row + M);
  /// Of three tensors, from one cell to the next.
  static constexpr int kCellValues = 3 * size + kLineLayouts[M - 2].apart;
};

/// One thread of a cell of M^2 lines: it has the lines along z with (x, y) = (a, b), along x with
/// (y, z) = (a, b) and along y with (x, z) = (a, b).
template <int P, int M>
struct LineThread {
  using Shape = LineShape<M>;
  using Box = LineBox<M>;

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

/// u along the thread's line along z -> gradient at the points: g_x and g_z in shared memory, g_y
/// along the thread's line along y in registers. U, GX, GZ: tensors of LineBox<M>::size values of
/// the cell; what they held before is lost. Ends with synchronize().
template <int P, int M, class T>
__device__ __forceinline__ void gradient_by_lines(const WeightedEvenOdd<T, P + 1, M>& lines,
                                                  const LineThread<P, M>& thread,
                                                  const T (&u)[P + 1], T* U, T* GX, T* GZ,
                                                  T (&gy)[M]) {
  using Box = LineBox<M>;
  constexpr int n = P + 1;
  // u [n][n][n] -> B along z -> [M][n][n]
  if (thread.has_nodes) {
    T r[M];
    multiply_even_odd<1>(lines.B, u, r);
    store_line(U + thread.along_z(), Box::plane, r);
  }
  thread.synchronize();
  // -> B along x -> [M][n][M]
  if (thread.active && thread.a < n) replace_line_even_odd<1>(lines.B, U + thread.along_x(), 1);
  thread.synchronize();
  // -> B along y -> U [M][M][M]; D along y -> g_y
  if (thread.active) {
    T f[n];
    T r[M];
    load_line(U + thread.along_y(), Box::row, f);
    multiply_even_odd<1>(lines.B, f, r);
    multiply_even_odd<-1>(lines.D, r, gy);
    store_line(U + thread.along_y(), Box::row, r);
  }
  thread.synchronize();
  // D along x -> g_x, D along z -> g_z
  if (thread.active) {
    T r[M];
    T g[M];
    load_line(U + thread.along_x(), 1, r);
    multiply_even_odd<-1>(lines.D, r, g);
    store_line(GX + thread.along_x(), 1, g);
    load_line(U + thread.along_z(), Box::plane, r);
    multiply_even_odd<-1>(lines.D, r, g);
    store_line(GZ + thread.along_z(), Box::plane, g);
  }
  thread.synchronize();
}

/// What U holds after gradient_by_lines(): values that integrate_by_lines() adds at the points, or
/// nothing that counts.
enum class AtPoints { nothing, values };

/// The transpose: f_x and f_z in GX and GZ, f_y in registers, values of a reaction in U, all
/// without weights -> v along the thread's line along z, where it has_nodes.
template <int P, int M, class T>
__device__ __forceinline__ void integrate_by_lines(const WeightedEvenOdd<T, P + 1, M>& lines,
                                                   const LineThread<P, M>& thread, T (&fy)[M], T* U,
                                                   T* GX, T* GZ, T (&v)[P + 1],
                                                   AtPoints in_u = AtPoints::nothing) {
  using Box = LineBox<M>;
  constexpr int n = P + 1;
  T sum[M];
  multiply_even_odd<-1>(lines.D_weighted, fy, sum);
  thread.synchronize();
  // D^T along x of f_x and along z of f_z
  if (thread.active) {
    replace_line_even_odd<-1>(lines.D_weighted, GX + thread.along_x(), 1);
    replace_line_even_odd<-1>(lines.D_weighted, GZ + thread.along_z(), Box::plane);
  }
  thread.synchronize();
  // the sum [M][M][M] -> B^T along y -> [M][n][M]
  if (thread.active) {
    T r[n];
#pragma unroll
    for (int q = 0; q < M; ++q) {
      const int at = thread.along_y() + q * Box::row;
      sum[q] += GX[at] + GZ[at];
      if (in_u == AtPoints::values) sum[q] += U[at];
    }
    multiply_even_odd<1>(lines.B_weighted, sum, r);
    store_line(U + thread.along_y(), Box::row, r);
  }
  thread.synchronize();
  // -> B^T along x -> [M][n][n]
  if (thread.active && thread.a < n) {
    replace_line_even_odd<1>(lines.B_weighted, U + thread.along_x(), 1);
  }
  thread.synchronize();
  // -> B^T along z -> v [n][n][n]
  if (thread.has_nodes) {
    T f[M];
    load_line(U + thread.along_z(), Box::plane, f);
    multiply_even_odd<1>(lines.B_weighted, f, v);
  }
}

}  // namespace tessera
