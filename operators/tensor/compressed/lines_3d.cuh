// This kernel applies compressed factors with one thread per line.
#pragma once

#include "operators/cells/device_generation.cuh"
#include "operators/tensor/compressed/arguments.hpp"
#include "operators/tensor/compressed/layout.hpp"
#include "operators/tensor/compressed/point.cuh"
#include "operators/tensor/gpu/lines.cuh"
#include "operators/tensor/sweeps/line_sweeps.cuh"

namespace tessera {

/// v_c = B^T D B u_c by sum factorization with packed factors (point.cuh), a thread a line.
///
/// Launch: the shape of CompressedLineSweeps. Shared memory: three tensors of M^3 values a cell.
/// Bytes a DoF: x and y once, and compressed_point_bytes() a point, M^3 / P^3 points, and a value
/// more with a reaction. Flops: about 16 M + 50 a point, in the points 12 M + 47. Deterministic but
/// for the sinks that add atomically.
template <class T, int P, int M, CompressedBits bits>
__global__ void __launch_bounds__(CompressedLineSweeps<T, P, M>::Shape::kThreads,
                                  CompressedLineSweeps<T, P, M>::Shape::kRow.blocks)
    compressed_lines_kernel(const __grid_constant__ CompressedArguments<T> args,
                            const __grid_constant__
                            typename CompressedLineSweeps<T, P, M>::Matrices lines) {
  constexpr int n = P + 1;
  using Sweeps = CompressedLineSweeps<T, P, M>;
  constexpr CompressedLayout kLayout = compressed_layout(P, M, sizeof(T));
  constexpr auto kGroupBytes = static_cast<unsigned>(kLayout.group_bytes(bits));
  // What the L2 cache is asked for first crosses the link between its halves again when it is read.
  constexpr bool kToRegisters = bits == few_bits(sizeof(T)) && has_factors_in_registers<T>(M);
  __shared__ __align__(16) T shared[Sweeps::Shape::kGroups][Sweeps::kValues];
  const typename Sweeps::Thread thread(args.range.size());
  const CellPlace place =
      place_cell_32(args.grid, args.range, thread.active ? thread.number() : 0U);
  const Index cell = cell_number(args.grid, place.position);
  const char* const group = args.factors + cell / kLayout.cells * kGroupBytes;
  const int in_group = static_cast<int>(cell % kLayout.cells);
  if (!kToRegisters && thread.active && in_group == 0 && thread.a == 0 && thread.b == 0) {
    prefetch_to_l2(group, kGroupBytes);
  }
  // On its way while u is gathered.
  const CompressedHeader header(group + in_group * kCompressedHeaderBytes);
  CompressedPoint<T, bits> packed[M];
  const auto load = [&](int q) {
    packed[q].load(group + kLayout.cells * kCompressedHeaderBytes,
                   kLayout.lanes() * kLayout.steps(),
                   kLayout.position(in_group, thread.a, q, thread.b));
  };
  if (kToRegisters && thread.active) {
#pragma unroll
    for (int q = 0; q < M; ++q) load(q);
  }
  const NodeLine nodes = line_along_z<P>(args.grid, place, thread.a, thread.b);

  T u[n];
  if (thread.has_nodes) gather_line(args.source, place, nodes, u);
  const Sweeps sweeps(lines, thread, shared[threadIdx.y]);
  typename Sweeps::Gradient g;
  sweeps.gradient(u, g);
  // f = D_q g at the points of a line along y
  if (thread.active) {
#pragma unroll
    for (int q = 0; q < M; ++q) {
      if (!kToRegisters) load(q);
      T d[6];
#pragma unroll
      for (int e = 0; e < 6; ++e) {
        d[e] = packed[q].number(e, header.exponent(e)) + header.offset<T>(e);
      }
      sweeps.multiply(d, q, g);
    }
  }
  T v[n];
  const T* const r_q = args.reaction + cell * (M * M * M) + thread.b * M * M + thread.a;
  sweeps.integrate(g, v, args.reaction == nullptr ? AtPoints::nothing : AtPoints::values,
                   [&](int q) { return r_q[q * M]; });
  if (thread.has_nodes) scatter_line(args.sink, place, thread.number(), nodes, v);
}

}  // namespace tessera
