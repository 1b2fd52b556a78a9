// These kernels compute the geometry from node positions in every application.
#pragma once

#include "operators/tensor/gpu/line_sweeps_3d.cuh"
#include "operators/tensor/gpu/tensor_2d.cuh"

namespace tessera {

/// What the kernels that compute the geometry are given.
template <class T>
struct OnTheFlyArguments {
  CellGrid grid;
  CellRange range;
  CellSource<T> source;
  CellSink<T> sink;            // not `patch`
  const double* positions[3];  // of the nodes
  const T* k;                  // [cell][q_z][q_y][q_x], or null
  T constant_k;
  ReactionKind reaction;
  const T* c;  // as k
  T constant_c;
};

/// The 1D matrices for u and, in double precision, for positions.
template <class T, int n, int m>
struct OnTheFlyMatrices {
  WeightedEvenOdd<T, n, m> field;
  WeightedEvenOdd<double, n, m> position;
};

/// D = k |J| J^-1 J^-T as xx xy xz yy yz zz, J[a][b] = dx_a / dxi_b: 9 products and 6 sums of them
/// for adj(J), 5 for |J|, 18 for adj(J) adj(J)^T, one division. Returns |J|.
template <class T>
__device__ __forceinline__ double factors_of_jacobian(const double (&J)[3][3], T k, T (&d)[6]) {
  double K[3][3];  // adj(J) = |J| J^-1
#pragma unroll
  for (int a = 0; a < 3; ++a) {
#pragma unroll
    for (int b = 0; b < 3; ++b) {
      K[b][a] = J[(a + 1) % 3][(b + 1) % 3] * J[(a + 2) % 3][(b + 2) % 3] -
                J[(a + 1) % 3][(b + 2) % 3] * J[(a + 2) % 3][(b + 1) % 3];
    }
  }
  const double determinant = J[0][0] * K[0][0] + J[0][1] * K[1][0] + J[0][2] * K[2][0];
  const double s = static_cast<double>(k) / determinant;
  int e = 0;
#pragma unroll
  for (int a = 0; a < 3; ++a) {
#pragma unroll
    for (int b = a; b < 3; ++b) {
      d[e++] = static_cast<T>(s * (K[a][0] * K[b][0] + K[a][1] * K[b][1] + K[a][2] * K[b][2]));
    }
  }
  return determinant;
}

/// v_c = B^T D B u_c by sum factorization in 3D, with D of the cell's nodes, a thread a line.
///
/// The gradients of the three coordinates are the rows of J; those along a line along y stay in the
/// thread's registers, 9 M numbers. Positions are taken relative to a node of the cell, so that the
/// size of the box costs J no digits. Launch: LineShape<M>. Shared memory: three tensors of M^3
/// doubles a cell. Bytes a DoF: x, y and 24 of positions. Flops: about 33 M + 120 a point, most of
/// them in double precision. Deterministic but for the sinks that add atomically.
template <class T, int P, int M>
__global__ void __launch_bounds__(LineShape<M>::kColumns* LineShape<M>::kRows)
    on_the_fly_3d_kernel(const __grid_constant__ OnTheFlyArguments<T> args,
                         const __grid_constant__ OnTheFlyMatrices<T, P + 1, M> lines) {
  using Box = LineBox<M>;
  constexpr int n = P + 1;
  __shared__ double shared[LineShape<M>::kCells][Box::kCellValues];
  const LineThread<P, M> thread(args.range.size());
  const CellPlace place =
      place_cell_32(args.grid, args.range, thread.active ? thread.number() : 0U);
  const NodeLine nodes = line_along_z<P>(args.grid, place, thread.a, thread.b);

  // J [coordinate][axis] at the points of a line along y
  double J[3][3][M];
#pragma unroll
  for (int d = 0; d < 3; ++d) {
    double* const U = shared[thread.local];
    double x[n];
    if (thread.has_nodes) {
      const double origin = args.positions[d][place.first_node];
#pragma unroll
      for (int i = 0; i < n; ++i) {
        x[i] = args.positions[d][nodes.lattice + i * nodes.stride] - origin;
      }
    }
    gradient_by_lines<P, M>(lines.position, thread, x, U, U + Box::size, U + 2 * Box::size,
                            J[d][1]);
    if (thread.active) {
      load_line(U + Box::size + thread.along_y(), Box::row, J[d][0]);
      load_line(U + 2 * Box::size + thread.along_y(), Box::row, J[d][2]);
    }
    thread.synchronize();
  }
  T* const U = reinterpret_cast<T*>(shared[thread.local]);
  T* const GX = U + Box::size;
  T* const GZ = GX + Box::size;
  T u[n];
  T w[M];
  if (thread.has_nodes) gather_line(args.source, place, nodes, u);
  gradient_by_lines<P, M>(lines.field, thread, u, U, GX, GZ, w);
  // f = D_q g at the points of a line along y
  if (thread.active) {
    const Index first =
        cell_number(args.grid, place.position) * (M * M * M) + thread.b * M * M + thread.a;
#pragma unroll
    for (int q = 0; q < M; ++q) {
      double here[3][3];
#pragma unroll
      for (int d = 0; d < 3; ++d) {
#pragma unroll
        for (int axis = 0; axis < 3; ++axis) here[d][axis] = J[d][axis][q];
      }
      T d[6];
      const double determinant =
          factors_of_jacobian(here, args.k != nullptr ? args.k[first + q * M] : args.constant_k, d);
      const int at = thread.along_y() + q * Box::row;
      if (args.reaction != ReactionKind::none) {
        const T c = args.c != nullptr ? args.c[first + q * M] : args.constant_c;
        U[at] *= c * static_cast<T>(determinant);
      }
      multiply_symmetric(d, GX[at], w[q], GZ[at]);
    }
  }
  T v[n];
  integrate_by_lines<P, M>(
      lines.field, thread, w, U, GX, GZ, v,
      args.reaction == ReactionKind::none ? AtPoints::nothing : AtPoints::values);
  if (thread.has_nodes) scatter_line(args.sink, place, thread.number(), nodes, v);
}

/// u along the line of nodes x = a along y -> gradient at the points: g_x in GX, g_y along the
/// line of points x = a in registers. Ends with a barrier.
template <int P, int M, class T>
__device__ __forceinline__ void gradient_by_lines_2d(const WeightedEvenOdd<T, P + 1, M>& lines,
                                                     bool active, int a, const T (&u)[P + 1], T* U,
                                                     T* GX, T (&gy)[M]) {
  constexpr int row = Box2D<P, M>::row;
  constexpr int n = P + 1;
  // u [n][n] -> B along y -> [M][n]
  if (active && a < n) {
    T r[M];
    multiply_even_odd<1>(lines.B, u, r);
    store_line(U + a, row, r);
  }
  __syncthreads();
  // -> B along x -> U [M][M]; D along x -> g_x
  if (active) {
    T f[n];
    T r[M];
    T g[M];
    load_line(U + a * row, 1, f);
    multiply_even_odd<1>(lines.B, f, r);
    multiply_even_odd<-1>(lines.D, r, g);
    store_line(U + a * row, 1, r);
    store_line(GX + a * row, 1, g);
  }
  __syncthreads();
  // D along y -> g_y
  if (active) {
    T r[M];
    load_line(U + a, row, r);
    multiply_even_odd<-1>(lines.D, r, gy);
  }
  __syncthreads();
}

/// The same in 2D.
///
/// Launch: (M, cells) threads. Shared memory: two tensors of M (M | 1) doubles a cell, dynamic.
/// Bytes a DoF: x, y and 16 of positions. Flops: about 26 M + 30 a point.
template <class T, int P, int M>
__global__ void __launch_bounds__(max_brick_threads(2, M))
    on_the_fly_2d_kernel(const __grid_constant__ OnTheFlyArguments<T> args,
                         const __grid_constant__ OnTheFlyMatrices<T, P + 1, M> lines) {
  using Box = Box2D<P, M>;
  constexpr int n = P + 1;
  extern __shared__ __align__(16) unsigned char shared_memory[];
  double* const mine = reinterpret_cast<double*>(shared_memory) + threadIdx.y * 2 * Box::size;
  const int a = static_cast<int>(threadIdx.x);
  const unsigned number = blockIdx.x * blockDim.y + threadIdx.y;
  const bool active = number < args.range.size();
  const bool has_nodes = active && a < n;
  const CellPlace place = place_cell_32(args.grid, args.range, active ? number : 0U);
  const NodeLine nodes = line_along_y<P>(args.grid, place, a);

  // J [coordinate][axis] at the points of the line x = a
  double J[2][2][M];
#pragma unroll
  for (int d = 0; d < 2; ++d) {
    double x[n];
    if (has_nodes) {
      const double origin = args.positions[d][place.first_node];
#pragma unroll
      for (int i = 0; i < n; ++i) {
        x[i] = args.positions[d][nodes.lattice + i * nodes.stride] - origin;
      }
    }
    gradient_by_lines_2d<P, M>(lines.position, active, a, x, mine, mine + Box::size, J[d][1]);
    if (active) load_line(mine + Box::size + a, Box::row, J[d][0]);
    __syncthreads();
  }
  T* const U = reinterpret_cast<T*>(mine);
  T* const GX = U + Box::size;
  T u[n];
  T w[M];
  if (has_nodes) gather_line(args.source, place, nodes, u);
  gradient_by_lines_2d<P, M>(lines.field, active, a, u, U, GX, w);
  // f = D_q g at the points of the line x = a; D^T along y of f_y
  T sum[M];
  if (active) {
    const Index first = cell_number(args.grid, place.position) * (M * M) + a;
#pragma unroll
    for (int q = 0; q < M; ++q) {
      const double xx = J[0][0][q];
      const double xy = J[0][1][q];
      const double yx = J[1][0][q];
      const double yy = J[1][1][q];
      const T k = args.k != nullptr ? args.k[first + q * M] : args.constant_k;
      const double determinant = xx * yy - xy * yx;
      const double s = static_cast<double>(k) / determinant;
      const T d_xx = static_cast<T>(s * (yy * yy + xy * xy));
      const T d_xy = static_cast<T>(-s * (yy * yx + xy * xx));
      const T d_yy = static_cast<T>(s * (yx * yx + xx * xx));
      const int at = a + q * Box::row;
      if (args.reaction != ReactionKind::none) {
        const T c = args.c != nullptr ? args.c[first + q * M] : args.constant_c;
        U[at] *= c * static_cast<T>(determinant);
      }
      const T gx = GX[at];
      GX[at] = d_xx * gx + d_xy * w[q];
      w[q] = d_xy * gx + d_yy * w[q];
    }
    multiply_even_odd<-1>(lines.field.D_weighted, w, sum);
  }
  __syncthreads();
  // D^T along x of f_x
  if (active) replace_line_even_odd<-1>(lines.field.D_weighted, GX + a * Box::row, 1);
  __syncthreads();
  // the sum [M][M] -> B^T along y -> [n][M]
  if (active) {
    T r[n];
#pragma unroll
    for (int q = 0; q < M; ++q) {
      sum[q] += GX[a + q * Box::row];
      if (args.reaction != ReactionKind::none) sum[q] += U[a + q * Box::row];
    }
    multiply_even_odd<1>(lines.field.B_weighted, sum, r);
    store_line(U + a, Box::row, r);
  }
  __syncthreads();
  // -> B^T along x -> v [n][n]
  if (has_nodes) replace_line_even_odd<1>(lines.field.B_weighted, U + a * Box::row, 1);
  __syncthreads();
  if (has_nodes) {
    T v[n];
    load_line(U + a, Box::row, v);
    scatter_line(args.sink, place, number, nodes, v);
  }
}

}  // namespace tessera
