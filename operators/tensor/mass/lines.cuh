// These kernels multiply by the mass matrices of cells.
#pragma once

#include "operators/tensor/gpu/tensor_2d.cuh"
#include "operators/tensor/gpu/tensor_3d.cuh"
#include "operators/tensor/sweeps/even_odd_lines.cuh"

namespace tessera {

/// Values at m points of functions of n nodes, and the transpose, split for even-odd.
template <class T, int n, int m>
struct MassLines {
  EvenOddLines<T, m, n> B;
  EvenOddLines<T, n, m> B_transposed;
};

/// M = B^T W B of one axis of the reference cell.
template <class T, int n>
struct MassProduct {
  EvenOddLines<T, n, n> M;
};

/// Values of shared memory that one cell needs, in multiples of 16 bytes: one tensor.
template <class T, int dim, int P, int M>
constexpr int mass_cell_values() {
  constexpr int unit = 16 / sizeof(T);
  constexpr int size = dim == 3 ? Box3D<P, M>::size : Box2D<P, M>::size;
  return (size + unit - 1) / unit * unit;
}

/// The last stage in 3D: thread (a, b) has v along the z line (x, y) = (a, b). For SinkKind::patch
/// as finish_cell_3d(); what it had to read of `mine` has to be read.
template <int P, class T>
__device__ __forceinline__ void finish_cell_along_z(const TensorArguments<T>& args,
                                                    const BlockCell& cell, int a, int b,
                                                    const T (&v)[P + 1], T* mine, const T* first,
                                                    int cell_values) {
  constexpr int n = P + 1;
  const bool has_line = cell.active && a < n && b < n;
  if (args.sink.kind == SinkKind::patch) {
    if (has_line) store_line(mine + a + n * b, n * n, v);
    __syncthreads();
    scatter_brick<3, P>(args, cell, first, cell_values);
    return;
  }
  if (!has_line) return;
  scatter_line(args.sink, cell.place, cell.number, line_along_z<P>(args.grid, cell.place, a, b), v);
}

/// v_c = B^T R B u_c of a brick of cells with R = diag(r_q), r_q = w |J| c: `args.reaction`.
///
/// Launch: (M^2, cells of the brick) threads; thread (a, b) of a cell has lines (x, y) = (a, b)
/// along z, then (y, z) along x, then (x, z) along y, and back; it multiplies by R where it has a
/// line of points, whose r_q are on their way from the start. Shared memory: a tensor of M^3 values
/// a cell. Four barriers, one more for patches.
/// Bytes a DoF: x and y once, and a value a point, M^3 / P^3 points.
/// Flops: about 6 M a point.
/// Deterministic but for the sinks that add atomically.
template <class T, int P, int M>
__global__ void __launch_bounds__(max_brick_threads(3, M))
    mass_3d_kernel(const __grid_constant__ TensorArguments<T> args,
                   const __grid_constant__ MassLines<T, P + 1, M> lines) {
  using Box = Box3D<P, M>;
  constexpr int n = P + 1;
  constexpr int kCellValues = mass_cell_values<T, 3, P, M>();
  extern __shared__ __align__(16) unsigned char shared_memory[];
  T* const first = reinterpret_cast<T*>(shared_memory);
  T* const U = first + threadIdx.y * kCellValues;
  const int a = threadIdx.x % M;
  const int b = threadIdx.x / M;
  const int along_x = b * Box::plane + a * Box::row;  // line (y, z) = (a, b)
  const int along_y = b * Box::plane + a;             // line (x, z) = (a, b)
  const int along_z = b * Box::row + a;               // line (x, y) = (a, b)
  const BlockCell cell = block_cell(args);
  const bool has_nodes = cell.active && a < n && b < n;

  T r_q[M];
  if (cell.active) {
    const T* const from =
        args.reaction + cell_number(args.grid, cell.place.position) * (M * M * M) + b * M * M + a;
#pragma unroll
    for (int q = 0; q < M; ++q) r_q[q] = __ldcs(from + q * M);
  }
  // u [n][n][n] -> B along z -> [M][n][n]
  if (has_nodes) {
    T u[n];
    T r[M];
    gather_line(args.source, cell.place, line_along_z<P>(args.grid, cell.place, a, b), u);
    multiply_even_odd<1>(lines.B, u, r);
    store_line(U + along_z, Box::plane, r);
  }
  __syncthreads();
  // -> B along x -> [M][n][M]
  if (cell.active && a < n) replace_line_even_odd<1>(lines.B, U + along_x, 1);
  __syncthreads();
  // -> B along y, R, B^T along y -> [M][n][M]
  if (cell.active) {
    T u[n];
    T r[M];
    load_line(U + along_y, Box::row, u);
    multiply_even_odd<1>(lines.B, u, r);
#pragma unroll
    for (int q = 0; q < M; ++q) r[q] *= r_q[q];
    multiply_even_odd<1>(lines.B_transposed, r, u);
    store_line(U + along_y, Box::row, u);
  }
  __syncthreads();
  // -> B^T along x -> [M][n][n]
  if (cell.active && a < n) replace_line_even_odd<1>(lines.B_transposed, U + along_x, 1);
  __syncthreads();
  // -> B^T along z -> v [n][n][n]
  T v[n];
  if (has_nodes) {
    T f[M];
    load_line(U + along_z, Box::plane, f);
    multiply_even_odd<1>(lines.B_transposed, f, v);
  }
  // The patch overwrites what other threads read above.
  if (args.sink.kind == SinkKind::patch) __syncthreads();
  finish_cell_along_z<P>(args, cell, a, b, v, U, first, kCellValues);
}

/// The same where all cells are alike and c is a number: A = s M x M x M, s = |J| c:
/// `args.reaction_scale`.
///
/// Launch as above with M = p + 1; two barriers, one more for patches. Bytes a DoF: x and y once.
/// Flops: about 3 (p + 1) a node of a cell, (p + 1)^3 / p^3 nodes a DoF.
template <class T, int P>
__global__ void __launch_bounds__(max_brick_threads(3, P + 1))
    equal_mass_3d_kernel(const __grid_constant__ TensorArguments<T> args,
                         const __grid_constant__ MassProduct<T, P + 1> lines) {
  constexpr int n = P + 1;
  using Box = Box3D<P, n>;
  constexpr int kCellValues = mass_cell_values<T, 3, P, n>();
  extern __shared__ __align__(16) unsigned char shared_memory[];
  T* const first = reinterpret_cast<T*>(shared_memory);
  T* const U = first + threadIdx.y * kCellValues;
  const int a = threadIdx.x % n;
  const int b = threadIdx.x / n;
  const BlockCell cell = block_cell(args);
  if (cell.active) {
    T u[n];
    T r[n];
    gather_line(args.source, cell.place, line_along_z<P>(args.grid, cell.place, a, b), u);
    multiply_even_odd<1>(lines.M, u, r);
    store_line(U + b * Box::row + a, Box::plane, r);
  }
  __syncthreads();
  if (cell.active) replace_line_even_odd<1>(lines.M, U + b * Box::plane + a * Box::row, 1);
  __syncthreads();
  T v[n];
  if (cell.active) {
    T in[n];
    load_line(U + b * Box::plane + a, Box::row, in);
    multiply_even_odd<1>(lines.M, in, v);
#pragma unroll
    for (int i = 0; i < n; ++i) v[i] *= args.reaction_scale;
  }
  // The patch overwrites what other threads read above.
  if (args.sink.kind == SinkKind::patch) __syncthreads();
  finish_cell_3d<P>(args, cell, a, b, v, U, first, kCellValues);
}

/// v_c = B^T R B u_c in 2D, a thread block a brick.
///
/// Launch: (M, cells of the brick) threads; thread a of a cell has line x = a along y, then line
/// y = a along x, whose r_q are on their way from the start. Shared memory: a tensor of M^2 values
/// a cell. Two barriers, one more for patches. Bytes a DoF: x and y once, and a value a point, M^2
/// / P^2 points. Flops: about 4 M a point. Deterministic but for the sinks that add atomically.
template <class T, int P, int M>
__global__ void __launch_bounds__(max_brick_threads(2, M))
    mass_2d_kernel(const __grid_constant__ TensorArguments<T> args,
                   const __grid_constant__ MassLines<T, P + 1, M> lines) {
  using Box = Box2D<P, M>;
  constexpr int n = P + 1;
  constexpr int kCellValues = mass_cell_values<T, 2, P, M>();
  extern __shared__ __align__(16) unsigned char shared_memory[];
  T* const first = reinterpret_cast<T*>(shared_memory);
  T* const U = first + threadIdx.y * kCellValues;
  const int a = threadIdx.x;
  const BlockCell cell = block_cell(args);
  const bool has_nodes = cell.active && a < n;
  T r_q[M];
  if (cell.active) {
    const T* const from =
        args.reaction + cell_number(args.grid, cell.place.position) * (M * M) + a * M;
#pragma unroll
    for (int q = 0; q < M; ++q) r_q[q] = __ldcs(from + q);
  }
  // u [n][n] -> B along y -> [M][n]
  if (has_nodes) {
    T u[n];
    T r[M];
    gather_line(args.source, cell.place, line_along_y<P>(args.grid, cell.place, a), u);
    multiply_even_odd<1>(lines.B, u, r);
    store_line(U + a, Box::row, r);
  }
  __syncthreads();
  // -> B along x, R, B^T along x -> [M][n]
  if (cell.active) {
    T u[n];
    T r[M];
    load_line(U + a * Box::row, 1, u);
    multiply_even_odd<1>(lines.B, u, r);
#pragma unroll
    for (int q = 0; q < M; ++q) r[q] *= r_q[q];
    multiply_even_odd<1>(lines.B_transposed, r, u);
    store_line(U + a * Box::row, 1, u);
  }
  __syncthreads();
  // -> B^T along y -> v [n][n]
  T v[n];
  if (has_nodes) {
    T f[M];
    load_line(U + a, Box::row, f);
    multiply_even_odd<1>(lines.B_transposed, f, v);
  }
  // The patch overwrites what other threads read above.
  if (args.sink.kind == SinkKind::patch) __syncthreads();
  finish_cell_2d<P>(args, cell, a, v, U, first, kCellValues);
}

/// As equal_mass_3d_kernel(), with a barrier less.
template <class T, int P>
__global__ void __launch_bounds__(max_brick_threads(2, P + 1))
    equal_mass_2d_kernel(const __grid_constant__ TensorArguments<T> args,
                         const __grid_constant__ MassProduct<T, P + 1> lines) {
  constexpr int n = P + 1;
  using Box = Box2D<P, n>;
  constexpr int kCellValues = mass_cell_values<T, 2, P, n>();
  extern __shared__ __align__(16) unsigned char shared_memory[];
  T* const first = reinterpret_cast<T*>(shared_memory);
  T* const U = first + threadIdx.y * kCellValues;
  const int a = threadIdx.x;
  const BlockCell cell = block_cell(args);
  if (cell.active) {
    T u[n];
    T r[n];
    gather_line(args.source, cell.place, line_along_y<P>(args.grid, cell.place, a), u);
    multiply_even_odd<1>(lines.M, u, r);
    store_line(U + a, Box::row, r);
  }
  __syncthreads();
  if (cell.active) replace_line_even_odd<1>(lines.M, U + a * Box::row, 1);
  __syncthreads();
  T v[n];
  if (cell.active) {
    load_line(U + a, Box::row, v);
#pragma unroll
    for (int i = 0; i < n; ++i) v[i] *= args.reaction_scale;
  }
  // The patch overwrites what other threads read above.
  if (args.sink.kind == SinkKind::patch) __syncthreads();
  finish_cell_2d<P>(args, cell, a, v, U, first, kCellValues);
}

}  // namespace tessera
