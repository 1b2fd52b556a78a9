// These kernels compute the geometry from node positions in every application.
#pragma once

#include "operators/tensor/gpu/tensor_2d.cuh"
#include "operators/tensor/sweeps/side_by_side.cuh"

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
  SideBySideMatrices<T, n, m> field;
  SideBySideMatrices<double, n, m> position;

  explicit OnTheFlyMatrices(const Basis1D& basis)
      : field(basis, WeightsIn::matrices), position(basis, WeightsIn::matrices) {}
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
/// The gradients of the three coordinates are the rows of J, and along the thread's line along y
/// they stay in its registers, 9 M numbers. Positions are taken relative to a node of the cell, so
/// that the size of the box costs J no digits. Launch: LineShape<double, M>. Shared memory: three
/// tensors of M^3 doubles a cell. Bytes a DoF: x, y and 24 of positions. Flops: about 40 M + 150 a
/// point, most of them in double precision. Deterministic but for the sinks that add atomically.
template <class T, int P, int M>
__global__ void __launch_bounds__(LineShape<double, M>::kThreads, kOnTheFlyBlocks[M - 2])
    on_the_fly_3d_kernel(const __grid_constant__ OnTheFlyArguments<T> args,
                         const __grid_constant__ OnTheFlyMatrices<T, P + 1, M> lines) {
  using Thread = LineThread<double, P, M>;
  constexpr int n = P + 1;
  using PositionSweeps = SideBySideSweeps<double, P, M, Thread>;
  __shared__ __align__(16) double shared[Thread::Shape::kGroups][PositionSweeps::kValues];
  const Thread thread(args.range.size());
  const CellPlace place =
      place_cell_32(args.grid, args.range, thread.active ? thread.number() : 0U);
  const NodeLine nodes = line_along_z<P>(args.grid, place, thread.a, thread.b);

  // The rows of J at the points of a line along y
  LineGradient<M, double> J[3];
#pragma unroll
  for (int d = 0; d < 3; ++d) {
    double x[n];
    if (thread.has_nodes) {
      const double origin = args.positions[d][place.first_node];
#pragma unroll
      for (int i = 0; i < n; ++i) {
        x[i] = args.positions[d][nodes.lattice + i * nodes.stride] - origin;
      }
    }
    PositionSweeps(lines.position, thread, shared[threadIdx.y]).gradient(x, J[d]);
    thread.synchronize();
  }
  T u[n];
  if (thread.has_nodes) gather_line(args.source, place, nodes, u);
  const SideBySideSweeps<T, P, M, Thread> sweeps(lines.field, thread,
                                                 reinterpret_cast<T*>(shared[threadIdx.y]));
  LineGradient<M, T> g;
  sweeps.gradient(u, g);
  // f = D_q g at the points of a line along y
  if (thread.active) {
    const Index first =
        cell_number(args.grid, place.position) * (M * M * M) + thread.b * M * M + thread.a;
#pragma unroll
    for (int q = 0; q < M; ++q) {
      const double here[3][3] = {{J[0].x[q], J[0].y[q], J[0].z[q]},
                                 {J[1].x[q], J[1].y[q], J[1].z[q]},
                                 {J[2].x[q], J[2].y[q], J[2].z[q]}};
      T d[6];
      const double determinant =
          factors_of_jacobian(here, args.k != nullptr ? args.k[first + q * M] : args.constant_k, d);
      if (args.reaction != ReactionKind::none) {
        const T c = args.c != nullptr ? args.c[first + q * M] : args.constant_c;
        sweeps.kept(q) = c * static_cast<T>(determinant);
      }
      sweeps.multiply(d, q, g);
    }
  }
  T v[n];
  sweeps.integrate(g, v, args.reaction == ReactionKind::none ? AtPoints::nothing : AtPoints::values,
                   [&](int q) { return sweeps.kept(q); });
  if (thread.has_nodes) scatter_line(args.sink, place, thread.number(), nodes, v);
}

/// The same in 2D.
///
/// Launch: (M, cells) threads. Shared memory: two tensors of M (M | 1) doubles a cell, dynamic.
/// Bytes a DoF: x, y and 16 of positions. Flops: about 16 M + 50 a point.
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

  // J [coordinate][axis] at the points of the line y = a
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
    SideBySideSweeps2D<double, P, M>(lines.position, a, active, mine).gradient(x, J[d][0], J[d][1]);
    __syncthreads();
  }
  T u[n];
  T gx[M];
  T gy[M];
  if (has_nodes) gather_line(args.source, place, nodes, u);
  const SideBySideSweeps2D<T, P, M> sweeps(lines.field, a, active, reinterpret_cast<T*>(mine));
  sweeps.gradient(u, gx, gy);
  // f = D_q g at the points of the line y = a
  T weights[M];
  if (active) {
    const Index first = cell_number(args.grid, place.position) * (M * M) + a * M;
#pragma unroll
    for (int q = 0; q < M; ++q) {
      const double xx = J[0][0][q];
      const double xy = J[0][1][q];
      const double yx = J[1][0][q];
      const double yy = J[1][1][q];
      const T k = args.k != nullptr ? args.k[first + q] : args.constant_k;
      const double determinant = xx * yy - xy * yx;
      const double s = static_cast<double>(k) / determinant;
      const T d_xx = static_cast<T>(s * (yy * yy + xy * xy));
      const T d_xy = static_cast<T>(-s * (yy * yx + xy * xx));
      const T d_yy = static_cast<T>(s * (yx * yx + xx * xx));
      if (args.reaction != ReactionKind::none) {
        const T c = args.c != nullptr ? args.c[first + q] : args.constant_c;
        weights[q] = c * static_cast<T>(determinant);
      }
      const T g = gx[q];
      gx[q] = d_xx * g + d_xy * gy[q];
      gy[q] = d_xy * g + d_yy * gy[q];
    }
  }
  T v[n];
  sweeps.integrate(gx, gy, v,
                   args.reaction == ReactionKind::none ? AtPoints::nothing : AtPoints::values,
                   [&](int q) { return weights[q]; });
  if (has_nodes) scatter_line(args.sink, place, number, nodes, v);
}

}  // namespace tessera
