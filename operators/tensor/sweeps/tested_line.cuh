// This function tests with one line of points by matrices side by side.
#pragma once

#include "operators/tensor/sweeps/at_points.hpp"
#include "operators/tensor/sweeps/line_pairs.cuh"
#include "operators/tensor/sweeps/weighted_matrices.cuh"

namespace tessera {

/// r = (W G)^T f and, with AtPoints::values, + (W B)^T (weight(q) (B u)_q), where u are the first
/// numbers of the n pairs at line[i stride].
template <class T, int n, int m, class Weight>
__device__ __forceinline__ void test_line(const SideBySideMatrices<T, n, m>& lines, const T (&f)[m],
                                          const ValuePair<T>* line, int stride, AtPoints at_points,
                                          Weight&& weight, T (&r)[n]) {
  const LineFold<T, m> folded(f);
  if (at_points == AtPoints::nothing) {
    multiply_even_odd<-1>(lines.G_weighted, folded, r);
    return;
  }
  T nodes[n];
  T others[n];
  T u[m];
  load_pairs(line, stride, nodes, others);
  multiply_even_odd<1>(lines.B, nodes, u);
#pragma unroll
  for (int q = 0; q < m; ++q) u[q] *= weight(q);
  add_even_odd<-1>(lines.B_weighted, LineFold<T, m>(u), lines.G_weighted, folded, r);
}

}  // namespace tessera
