// This is the 3D kernel for equal cells whose coefficient varies, with one thread per line.
#pragma once

#include "operators/tensor/gpu/lines.cuh"
#include "operators/tensor/sweeps/line_sweeps.cuh"

namespace tessera {

/// v_c = B^T D B u_c by sum factorization where D_q = s_q diag(axis_scale), a thread a line.
///
/// Launch: the shape of ScaledLineSweeps. Shared memory: three tensors of M^3 values a cell. Bytes
/// a DoF: x and y once, and a value a point, M^3 / P^3 points, and one more with a reaction. Flops:
/// about 16 M + 34 a point, in the points 12 M + 32. Deterministic but for the sinks that add
/// atomically; not for SinkKind::patch.
template <class T, int P, int M>
__global__ void __launch_bounds__(ScaledLineSweeps<T, P, M>::Shape::kThreads, kScaledBlocks[M - 2])
    scaled_lines_kernel(const __grid_constant__ TensorArguments<T> args, const __grid_constant__
                        typename ScaledLineSweeps<T, P, M>::Matrices lines) {
  constexpr int n = P + 1;
  using Sweeps = ScaledLineSweeps<T, P, M>;
  __shared__ __align__(16) T shared[Sweeps::Shape::kGroups][Sweeps::kValues];
  const typename Sweeps::Thread thread(args.range.size());
  const CellPlace place =
      place_cell_32(args.grid, args.range, thread.active ? thread.number() : 0U);
  const Index number = cell_number(args.grid, place.position);
  const int line = thread.b * M * M + thread.a;  // of points along y, M apart
  const NodeLine nodes = line_along_z<P>(args.grid, place, thread.a, thread.b);

  T u[n];
  T s[M];
  if (thread.has_nodes) gather_line(args.source, place, nodes, u);
  if (thread.active) {
    const T* const s_q = args.factors + number * args.factor_stride + line;
#pragma unroll
    for (int q = 0; q < M; ++q) s[q] = __ldcs(s_q + q * M);
  }
  const Sweeps sweeps(lines, thread, shared[threadIdx.y]);
  typename Sweeps::Gradient g;
  sweeps.gradient(u, g);
  if (thread.active) {
#pragma unroll
    for (int q = 0; q < M; ++q) {
      const T D[3] = {s[q] * args.axis_scale[0], s[q] * args.axis_scale[1],
                      s[q] * args.axis_scale[2]};
      sweeps.scale(D, q, g);
    }
  }
  T v[n];
  const T* const r_q = args.reaction + number * (M * M * M) + line;
  sweeps.integrate(g, v, args.reaction == nullptr ? AtPoints::nothing : AtPoints::values,
                   [&](int q) { return r_q[q * M]; });
  if (thread.has_nodes) scatter_line(args.sink, place, thread.number(), nodes, v);
}

}  // namespace tessera
