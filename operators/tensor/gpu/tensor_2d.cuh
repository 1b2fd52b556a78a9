// This is the unrolled tensor kernel in 2D.
#pragma once

#include "mesh/geometry/factor_kind.hpp"
#include "operators/tensor/gpu/launch_shapes.hpp"
#include "operators/tensor/gpu/lines.cuh"
#include "operators/tensor/sweeps/side_by_side_2d.cuh"

namespace tessera {

/// Values of shared memory that one cell needs.
template <int P, int M>
constexpr int tensor_2d_cell_values() {
  return 2 * Box2D<P, M>::size;
}

/// The line of nodes along y of thread a.
template <int P>
__device__ __forceinline__ NodeLine line_along_y(const CellGrid& grid, const CellPlace& place,
                                                 int a) {
  return {1, place.first_node + a, grid.nodes.strides[1], a, P + 1, face_mask(0, a, P)};
}

/// The last stage of the 2D kernels: thread a has v along the y line x = a. As finish_cell_3d().
template <int P, class T>
__device__ __forceinline__ void finish_cell_2d(const TensorArguments<T>& args,
                                               const BlockCell& cell, int a, const T (&v)[P + 1],
                                               T* mine, const T* first, int cell_values) {
  constexpr int n = P + 1;
  const bool has_line = cell.active && a < n;
  if (args.sink.kind == SinkKind::patch) {
    if (has_line) store_line(mine + a, n, v);
    __syncthreads();
    scatter_brick<2, P>(args, cell, first, cell_values);
    return;
  }
  if (!has_line) return;
  scatter_line(args.sink, cell.place, cell.number, line_along_y<P>(args.grid, cell.place, a), v);
}

/// v_c = B^T D B u_c of a brick of cells by sum factorization, a thread block a brick.
///
/// Launch: (M, cells of the brick) threads; thread a of a cell has line x = a along y, then line
/// y = a along x. Shared memory: two tensors of M^2 values a cell. Two barriers, and one more for
/// the patch. Bytes a DoF: x and y once, and 3 (general) or 1 (scaled) values a point, M^2 / P^2
/// points. Flops: about 8 M + 20 a point. Deterministic but for the sinks that add atomically.
template <class T, int P, int M, FactorKind kind>
__global__ void __launch_bounds__(max_brick_threads(2, M))
    tensor_2d_kernel(const __grid_constant__ TensorArguments<T> args,
                     const __grid_constant__ SideBySideMatrices<T, P + 1, M> lines) {
  using Box = Box2D<P, M>;
  constexpr int n = P + 1;
  constexpr int kCellValues = tensor_2d_cell_values<P, M>();
  constexpr int kEntries = kind == FactorKind::scaled ? 1 : 3;
  extern __shared__ __align__(16) unsigned char shared_memory[];
  T* const first = reinterpret_cast<T*>(shared_memory);
  T* const mine = first + threadIdx.y * kCellValues;
  const int a = threadIdx.x;
  const BlockCell cell = block_cell(args);

  // The factors of the row y = a, [M][entry]: on their way while u is interpolated.
  T factors[M][kEntries];
  if (cell.active) {
    const T* from =
        args.factors + cell_number(args.grid, cell.place.position) * args.factor_stride + a;
#pragma unroll
    for (int q = 0; q < M; ++q) {
#pragma unroll
      for (int e = 0; e < kEntries; ++e) factors[q][e] = __ldcs(from + (q * kEntries + e) * M);
    }
  }
  T u[n];
  if (cell.active && a < n) {
    gather_line(args.source, cell.place, line_along_y<P>(args.grid, cell.place, a), u);
  }
  const SideBySideSweeps2D<T, P, M> sweeps(lines, a, cell.active, mine);
  T gx[M];
  T gy[M];
  sweeps.gradient(u, gx, gy);
  if (cell.active) {
#pragma unroll
    for (int q = 0; q < M; ++q) {
      if constexpr (kind == FactorKind::scaled) {
        gx[q] *= factors[q][0] * args.axis_scale[0];
        gy[q] *= factors[q][0] * args.axis_scale[1];
      } else {
        const T x = gx[q];
        gx[q] = factors[q][0] * x + factors[q][1] * gy[q];
        gy[q] = factors[q][1] * x + factors[q][2] * gy[q];
      }
    }
  }
  T v[n];
  const T* const r_q =
      args.reaction + cell_number(args.grid, cell.place.position) * (M * M) + a * M;
  sweeps.integrate(gx, gy, v, args.reaction == nullptr ? AtPoints::nothing : AtPoints::values,
                   [&](int q) { return r_q[q]; });
  // The patch overwrites what other threads read above.
  if (args.sink.kind == SinkKind::patch) __syncthreads();
  finish_cell_2d<P>(args, cell, a, v, mine, first, kCellValues);
}

/// The same where all cells are alike: A = s_x K (x) M + s_y M (x) K.
///
/// Launch as above with M = p + 1; two barriers, one more for the patch. Bytes a DoF: x and y once.
/// Flops: 8 (p + 1) a node of a cell.
template <class T, int P>
__global__ void __launch_bounds__(max_brick_threads(2, P + 1))
    separable_2d_kernel(const __grid_constant__ TensorArguments<T> args,
                        const __grid_constant__ LineProducts<T, P + 1> lines) {
  constexpr int n = P + 1;
  using Box = Box2D<P, n>;
  constexpr int kCellValues = tensor_2d_cell_values<P, n>();
  extern __shared__ __align__(16) unsigned char shared_memory[];
  T* const first = reinterpret_cast<T*>(shared_memory);
  T* const A = first + threadIdx.y * kCellValues;
  T* const C = A + Box::size;
  const int a = threadIdx.x;
  const int along_x = a * Box::row;
  const BlockCell cell = block_cell(args);
  if (cell.active) {
    T u[n];
    T r[n];
    gather_line(args.source, cell.place, line_along_y<P>(args.grid, cell.place, a), u);
    multiply_line<n, n>(lines.M, u, r);
    store_line(A + a, Box::row, r);
    multiply_line<n, n>(lines.K, u, r);
    store_line(C + a, Box::row, r);
  }
  __syncthreads();
  if (cell.active) {
    T in[n];
    T c[n];
    T e[n];
    load_line(A + along_x, 1, in);
    multiply_line<n, n>(lines.K, in, c);
    load_line(C + along_x, 1, in);
    multiply_line<n, n>(lines.M, in, e);
#pragma unroll
    for (int i = 0; i < n; ++i) c[i] = args.axis_scale[0] * c[i] + args.axis_scale[1] * e[i];
    if (args.reaction_scale != T{0}) {
      load_line(A + along_x, 1, in);
      multiply_line<n, n>(lines.M, in, e);
#pragma unroll
      for (int i = 0; i < n; ++i) c[i] += args.reaction_scale * e[i];
    }
    store_line(A + along_x, 1, c);
  }
  __syncthreads();
  T v[n];
  if (cell.active) load_line(A + a, Box::row, v);
  finish_cell_2d<P>(args, cell, a, v, C, first + Box::size, kCellValues);
}

}  // namespace tessera
