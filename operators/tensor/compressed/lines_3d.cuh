// This kernel applies compressed factors with one thread per line.
#pragma once

#include "operators/cells/device_generation.cuh"
#include "operators/tensor/compressed/arguments.cuh"
#include "operators/tensor/compressed/point.cuh"
#include "operators/tensor/gpu/line_sweeps_3d.cuh"

namespace tessera {

/// v_c = B^T D B u_c by sum factorization with packed factors (compressed_point.cuh), a thread a
/// line.
///
/// Launch: LineShape<M>. Shared memory: three tensors of M^3 values a cell. Bytes a DoF: x and y
/// once, and compressed_point_bytes() a point, M^3 / P^3 points, and a value more with a reaction.
/// Flops: about 15 M + 45 a point. Deterministic but for the sinks that add atomically.
template <class T, int P, int M, CompressedBits bits>
__global__ void __launch_bounds__(LineShape<M>::kColumns* LineShape<M>::kRows,
                                  kLineRows[M - 2].compressed_blocks)
    compressed_lines_kernel(const __grid_constant__ CompressedArguments<T> args,
                            const __grid_constant__ WeightedEvenOdd<T, P + 1, M> lines) {
  using Box = LineBox<M>;
  constexpr int n = P + 1;
  constexpr CompressedLayout layout{1, M};
  constexpr auto kCellBytes = static_cast<unsigned>(layout.group_bytes(bits));
  __shared__ T shared[LineShape<M>::kCells][Box::kCellValues];
  const LineThread<P, M> thread(args.range.size());
  T* const U = shared[thread.local];
  T* const GX = U + Box::size;
  T* const GZ = GX + Box::size;
  const CellPlace place =
      place_cell_32(args.grid, args.range, thread.active ? thread.number() : 0U);
  const char* const factors =
      args.factors + cell_number(args.grid, place.position) * static_cast<Index>(kCellBytes);
  if (thread.active && thread.line == 0) prefetch_to_l2(factors, kCellBytes);
  const CompressedHeader header(factors);  // on its way while u is gathered
  const NodeLine nodes = line_along_z<P>(args.grid, place, thread.a, thread.b);

  T u[n];
  T w[M];
  if (thread.has_nodes) gather_line(args.source, place, nodes, u);
  gradient_by_lines<P, M>(lines, thread, u, U, GX, GZ, w);
  // f = D_q g at the points of a line along y
  if (thread.active) {
#pragma unroll
    for (int q = 0; q < M; ++q) {
      CompressedPoint<T, bits> packed;
      packed.load(factors + kCompressedHeaderBytes, M * M * M, q * M * M + thread.line);
      T d[6];
#pragma unroll
      for (int e = 0; e < 6; ++e) {
        d[e] = packed.number(e, header.exponent(e)) + header.offset<T>(e);
      }
      const int at = thread.along_y() + q * Box::row;
      multiply_symmetric(d, GX[at], w[q], GZ[at]);
    }
    if (args.reaction != nullptr) {
      const T* const r_q = args.reaction + cell_number(args.grid, place.position) * (M * M * M) +
                           thread.b * M * M + thread.a;
#pragma unroll
      for (int q = 0; q < M; ++q) U[thread.along_y() + q * Box::row] *= r_q[q * M];
    }
  }
  T v[n];
  integrate_by_lines<P, M>(lines, thread, w, U, GX, GZ, v,
                           args.reaction == nullptr ? AtPoints::nothing : AtPoints::values);
  if (thread.has_nodes) scatter_line(args.sink, place, thread.number(), nodes, v);
}

}  // namespace tessera
