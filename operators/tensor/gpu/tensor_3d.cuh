// These are the unrolled tensor kernels in 3D: of stored factors, and of equal cells with patches.
#pragma once

#include <cuda_pipeline.h>

#include "mesh/geometry/factor_kind.hpp"
#include "operators/tensor/gpu/launch_shapes.hpp"
#include "operators/tensor/gpu/lines.cuh"
#include "operators/tensor/sweeps/line_pairs.cuh"

namespace tessera {

/// Sizes of the 3D kernels: M^2 threads a cell, each with one line at a time; tensors in shared
/// memory are [z][y][x] with rows of odd length, so that lines along any axis meet few bank
/// conflicts.
template <int P, int M>
struct Box3D {
  static constexpr int n = P + 1;
  static constexpr int threads = M * M;
  static constexpr int row = M | 1;
  static constexpr int plane = M * row;
  static constexpr int size = M * plane;
};

/// Values of shared memory that one cell needs, in multiples of 16 bytes.
template <class T, int P, int M, FactorKind kind>
constexpr int tensor_3d_cell_values() {
  constexpr int unit = 16 / sizeof(T);
  constexpr int tensors = (kind == FactorKind::constant ? 2 : 3) * Box3D<P, M>::size;
  constexpr int factors = kind == FactorKind::constant ? 0
                          : kind == FactorKind::scaled ? M * M * M
                                                       : 6 * M * M * M;
  return (tensors + unit - 1) / unit * unit + (factors + unit - 1) / unit * unit;
}

/// f = D_q g at one point; `factors` are the cell's, in shared memory.
template <int M, FactorKind kind, class T>
__device__ __forceinline__ void multiply_factors_3d(const T* factors, const T (&axis_scale)[3],
                                                    int q_z, int q_xy, T (&g)[3]) {
  if constexpr (kind == FactorKind::scaled) {
    const T s = factors[q_z * M * M + q_xy];
#pragma unroll
    for (int d = 0; d < 3; ++d) g[d] *= s * axis_scale[d];
  } else {
    using Pair = ValuePair<T>;
    const Pair* pairs = reinterpret_cast<const Pair*>(factors) + q_z * 3 * M * M + q_xy;
    const Pair a = pairs[0];          // xx, xy
    const Pair b = pairs[M * M];      // xz, yy
    const Pair c = pairs[2 * M * M];  // yz, zz
    const T gx = g[0];
    const T gy = g[1];
    const T gz = g[2];
    g[0] = a.x * gx + a.y * gy + b.x * gz;
    g[1] = a.y * gx + b.y * gy + c.x * gz;
    g[2] = b.x * gx + c.x * gy + c.y * gz;
  }
}

/// The last stage of the 3D kernels: thread (a, b) has v along the y line (x, z) = (a, b).
/// For SinkKind::patch the v of all cells go to shared memory, `mine` for this cell, `first` for
/// the first of the block, cell_values apart.
template <int P, class T>
__device__ __forceinline__ void finish_cell_3d(const TensorArguments<T>& args,
                                               const BlockCell& cell, int a, int b,
                                               const T (&v)[P + 1], T* mine, const T* first,
                                               int cell_values) {
  constexpr int n = P + 1;
  const bool has_line = cell.active && a < n && b < n;
  if (args.sink.kind == SinkKind::patch) {
    if (has_line) store_line(mine + a + n * n * b, n, v);
    __syncthreads();
    scatter_brick<3, P>(args, cell, first, cell_values);
    return;
  }
  if (!has_line) return;
  scatter_line(args.sink, cell.place, cell.number,
               line_along_y_of_3d<P>(args.grid, cell.place, a, b), v);
}

/// v_c = B^T D B u_c of a brick of cells by sum factorization, a thread block a brick.
///
/// Launch: (M^2, cells of the brick) threads; thread (a, b) of a cell has lines (x, y) = (a, b)
/// along z, then (y, z) along x, then (x, z) along y. Shared memory: three tensors of M^3 values
/// and the factors a cell, which are on their way while u is interpolated. Eight barriers.
/// Bytes a DoF: x and y once, and 6 (general) or 1 (scaled) values a point, M^3 / P^3 points, and
/// one more where there is a reaction.
/// Flops: about 24 M + 15 a point.
/// Deterministic but for the sinks that add atomically.
template <class T, int P, int M, FactorKind kind>
__global__ void __launch_bounds__(max_brick_threads(3, M))
    tensor_3d_kernel(const __grid_constant__ TensorArguments<T> args,
                     const __grid_constant__ LineMatrices<T, P + 1, M> lines) {
  using Box = Box3D<P, M>;
  constexpr int n = P + 1;
  constexpr int kCellValues = tensor_3d_cell_values<T, P, M, kind>();
  constexpr int kFactorValues = kind == FactorKind::scaled ? M * M * M : 6 * M * M * M;
  constexpr int kUnit = 16 / sizeof(T);
  constexpr int kFactorUnits = (kFactorValues + kUnit - 1) / kUnit;
  extern __shared__ __align__(16) unsigned char shared_memory[];
  T* const factors = reinterpret_cast<T*>(shared_memory) + threadIdx.y * kCellValues;
  T* const U = factors + kFactorUnits * kUnit;
  T* const GX = U + Box::size;
  T* const GY = GX + Box::size;
  const int a = threadIdx.x % M;
  const int b = threadIdx.x / M;
  const int along_x = b * Box::plane + a * Box::row;  // line (y, z) = (a, b)
  const int along_y = b * Box::plane + a;             // line (x, z) = (a, b)
  const int along_z = b * Box::row + a;               // line (x, y) = (a, b)
  const BlockCell cell = block_cell(args);

  if (cell.active) {
    const T* from = args.factors + cell_number(args.grid, cell.place.position) * args.factor_stride;
    for (int i = threadIdx.x; i < kFactorUnits; i += Box::threads) {
      __pipeline_memcpy_async(factors + i * kUnit, from + i * kUnit, 16);
    }
  }
  __pipeline_commit();

  // u [n][n][n] -> B along z -> [M][n][n]
  if (cell.active && a < n && b < n) {
    T u[n];
    T r[M];
    gather_line(args.source, cell.place, line_along_z<P>(args.grid, cell.place, a, b), u);
    multiply_line<M, n>(lines.B, u, r);
    store_line(U + along_z, Box::plane, r);
  }
  __syncthreads();
  // -> B along x -> [M][n][M]
  if (cell.active && a < n) replace_line<M, n>(lines.B, U + along_x, 1);
  __syncthreads();
  // -> B along y -> U [M][M][M]; D along y -> g_y
  if (cell.active) {
    T u[n];
    T r[M];
    T g[M];
    load_line(U + along_y, Box::row, u);
    multiply_line<M, n>(lines.B, u, r);
    multiply_line<M, M>(lines.D, r, g);
    store_line(U + along_y, Box::row, r);
    store_line(GY + along_y, Box::row, g);
  }
  __syncthreads();
  // D along x -> g_x; D along z -> g_z in registers
  T w[M];
  if (cell.active) {
    T r[M];
    T g[M];
    load_line(U + along_x, 1, r);
    multiply_line<M, M>(lines.D, r, g);
    store_line(GX + along_x, 1, g);
    load_line(U + along_z, Box::plane, r);
    multiply_line<M, M>(lines.D, r, w);
  }
  __pipeline_wait_prior(0);
  __syncthreads();
  // f = D_q g at the points of a line along z; D^T along z of f_z stays in registers
  if (cell.active) {
#pragma unroll
    for (int q = 0; q < M; ++q) {
      T g[3] = {GX[along_z + q * Box::plane], GY[along_z + q * Box::plane], w[q]};
      multiply_factors_3d<M, kind>(factors, args.axis_scale, q, b * M + a, g);
      GX[along_z + q * Box::plane] = g[0];
      GY[along_z + q * Box::plane] = g[1];
      w[q] = g[2];
    }
    T r[M];
    multiply_line_transposed<M, M>(lines.D, w, r);
#pragma unroll
    for (int q = 0; q < M; ++q) w[q] = r[q];
  }
  __syncthreads();
  // D^T along x of f_x and along y of f_y
  if (cell.active) {
    replace_line_transposed<M, M>(lines.D, GX + along_x, 1);
    replace_line_transposed<M, M>(lines.D, GY + along_y, Box::row);
  }
  __syncthreads();
  // their sum [M][M][M] -> B^T along z -> [n][M][M]
  if (cell.active) {
    T r[n];
#pragma unroll
    for (int q = 0; q < M; ++q) {
      w[q] += GX[along_z + q * Box::plane] + GY[along_z + q * Box::plane];
    }
    if (args.reaction != nullptr) {
      const T* const r_q =
          args.reaction + cell_number(args.grid, cell.place.position) * (M * M * M) + b * M + a;
#pragma unroll
      for (int q = 0; q < M; ++q) w[q] += r_q[q * M * M] * U[along_z + q * Box::plane];
    }
    multiply_line_transposed<M, n>(lines.B, w, r);
    store_line(U + along_z, Box::plane, r);
  }
  __syncthreads();
  // -> B^T along x -> [n][M][n]
  if (cell.active && b < n) replace_line_transposed<M, n>(lines.B, U + along_x, 1);
  __syncthreads();
  // -> B^T along y -> v [n][n][n]
  T v[n];
  if (cell.active && a < n && b < n) {
    T f[M];
    load_line(U + along_y, Box::row, f);
    multiply_line_transposed<M, n>(lines.B, f, v);
  }
  const T* const first = reinterpret_cast<const T*>(shared_memory) + (GX - factors);
  finish_cell_3d<P>(args, cell, a, b, v, GX, first, kCellValues);
}

/// The same where all cells are alike: A = sum_d s_d K in direction d, M in the others, K and M the
/// 1D matrices of one axis; no points, no factors.
///
/// Launch as above with M = p + 1; two tensors of (p + 1)^3 values a cell, two barriers:
///   a = M_z u, b = K_z u | c = M_x a, e = s_x K_x a + r c + s_z M_x b | v = s_y K_y c + M_y e.
/// Bytes a DoF: x and y once. Flops: 14 (p + 1) a node of a cell, (p + 1)^3 / p^3 nodes a DoF.
template <class T, int P>
__global__ void __launch_bounds__(max_brick_threads(3, P + 1))
    separable_3d_kernel(const __grid_constant__ TensorArguments<T> args,
                        const __grid_constant__ LineProducts<T, P + 1> lines) {
  constexpr int n = P + 1;
  using Box = Box3D<P, n>;
  constexpr int kCellValues = tensor_3d_cell_values<T, P, n, FactorKind::constant>();
  extern __shared__ __align__(16) unsigned char shared_memory[];
  T* const first = reinterpret_cast<T*>(shared_memory);
  T* const A = first + threadIdx.y * kCellValues;
  T* const C = A + Box::size;
  const int a = threadIdx.x % n;
  const int b = threadIdx.x / n;
  const int along_x = b * Box::plane + a * Box::row;
  const int along_y = b * Box::plane + a;
  const int along_z = b * Box::row + a;
  const BlockCell cell = block_cell(args);
  if (cell.active) {
    T u[n];
    T r[n];
    gather_line(args.source, cell.place, line_along_z<P>(args.grid, cell.place, a, b), u);
    multiply_line<n, n>(lines.M, u, r);
    store_line(A + along_z, Box::plane, r);
    multiply_line<n, n>(lines.K, u, r);
    store_line(C + along_z, Box::plane, r);
  }
  __syncthreads();
  if (cell.active) {
    T in[n];
    T c[n];
    T e[n];
    load_line(A + along_x, 1, in);
    multiply_line<n, n>(lines.M, in, c);
    multiply_line<n, n>(lines.K, in, e);
    store_line(A + along_x, 1, c);
#pragma unroll
    for (int i = 0; i < n; ++i) e[i] = args.axis_scale[0] * e[i] + args.reaction_scale * c[i];
    load_line(C + along_x, 1, in);
    multiply_line<n, n>(lines.M, in, c);
#pragma unroll
    for (int i = 0; i < n; ++i) e[i] += args.axis_scale[2] * c[i];
    store_line(C + along_x, 1, e);
  }
  __syncthreads();
  T v[n];
  if (cell.active) {
    T in[n];
    T r[n];
    load_line(A + along_y, Box::row, in);
    multiply_line<n, n>(lines.K, in, r);
    load_line(C + along_y, Box::row, in);
    multiply_line<n, n>(lines.M, in, v);
#pragma unroll
    for (int i = 0; i < n; ++i) v[i] += args.axis_scale[1] * r[i];
  }
  // The patch overwrites what other threads read above.
  if (args.sink.kind == SinkKind::patch) __syncthreads();
  finish_cell_3d<P>(args, cell, a, b, v, A, first, kCellValues);
}

}  // namespace tessera
