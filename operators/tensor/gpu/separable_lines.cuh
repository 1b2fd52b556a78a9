// This is the 3D kernel for cells that are all alike, with one thread per line.
#pragma once

#include "mesh/element/basis_1d.hpp"
#include "operators/tensor/gpu/lines.cuh"
#include "operators/tensor/sweeps/even_odd_matrices.hpp"
#include "operators/tensor/sweeps/line_pairs.cuh"
#include "operators/tensor/sweeps/line_thread.cuh"

namespace tessera {

/// The 1D matrices of separable_lines_kernel(), s_d the scales of the axes and r of the reaction.
template <class T, int n>
struct SeparableMatrices {
  EvenOddLines<T, n, n> M;
  EvenOddLines<T, n, n> K_x;  // s_x K + r M
  EvenOddLines<T, n, n> K_y;  // s_y K
  EvenOddLines<T, n, n> K_z;  // s_z K

  SeparableMatrices(const Basis1D& basis, const T (&axis_scale)[3], T reaction_scale) {
    const Matrix1D mass = weighted_product(basis.B, basis.quadrature.weights);
    const Matrix1D stiffness = weighted_product(basis.G, basis.quadrature.weights);
    const auto sum = [&](double k, double m) {
      return even_odd_lines<T, n, n>(
          [&](int i, int j) { return k * stiffness(i, j) + m * mass(i, j); });
    };
    M = sum(0.0, 1.0);
    K_x = sum(axis_scale[0], reaction_scale);
    K_y = sum(axis_scale[1], 0.0);
    K_z = sum(axis_scale[2], 0.0);
  }
};

/// v_c = A u_c with A = sum_d s_d K in direction d, M in the others, + r M x M x M, K and M the 1D
/// matrices of one axis; no points, no factors.
///
/// Launch: LineShape<T, p + 1>. Shared memory: (p + 1)^3 pairs a cell, two waits:
///   a = M_z u, b = K_z u | c = M_x a, e = K_x a + M_x b | v = K_y c + M_y e.
/// Bytes a DoF: x and y once. Flops: 7 (p + 1) + 10 a node of a cell, (p + 1)^3 / p^3 nodes a DoF.
/// Deterministic but for the sinks that add atomically; not for SinkKind::patch.
template <class T, int P>
__global__ void __launch_bounds__(LineShape<T, P + 1>::kThreads, kSeparableBlocks[P - 1])
    separable_lines_kernel(const __grid_constant__ TensorArguments<T> args,
                           const __grid_constant__ SeparableMatrices<T, P + 1> lines) {
  constexpr int n = P + 1;
  using Thread = LineThread<T, P, n>;
  constexpr LineStrides kPairs = Thread::kPairs;
  constexpr int kGroups = Thread::Shape::kGroups;
  constexpr int kCells = Thread::Shape::kRow.cells;
  using Fold = LineFold<T, n>;
  __shared__ ValuePair<T> shared[kGroups][kCells * kPairs.cell_step];
  const Thread thread(args.range.size());
  const CellPlace place =
      place_cell_32(args.grid, args.range, thread.active ? thread.number() : 0U);
  const NodeLine nodes = line_along_z<P>(args.grid, place, thread.a, thread.b);
  ValuePair<T>* const pairs = shared[threadIdx.y] + thread.in_group * kPairs.cell_step;
  if (thread.active) {
    T u[n];
    gather_line(args.source, place, nodes, u);
    store_products<1>(lines.M, lines.K_z, u, pairs + thread.along_z(kPairs), kPairs.z_step);
  }
  thread.synchronize();
  if (thread.active) {
    T a[n];
    T b[n];
    T c[n];
    T e[n];
    load_pairs(pairs + thread.along_x(kPairs), 1, a, b);
    const Fold line(a);
    multiply_even_odd<1>(lines.M, line, c);
    add_even_odd<1>(lines.K_x, line, lines.M, Fold(b), e);
    store_pairs(pairs + thread.along_x(kPairs), 1, c, e);
  }
  thread.synchronize();
  if (thread.active) {
    T v[n];
    load_sum_of_products<1>(lines.K_y, lines.M, pairs + thread.along_y(kPairs), kPairs.y_step, v);
    scatter_line(args.sink, place, thread.number(),
                 line_along_y_of_3d<P>(args.grid, place, thread.a, thread.b), v);
  }
}

}  // namespace tessera
