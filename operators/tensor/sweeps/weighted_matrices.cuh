// These 1D matrices contain the quadrature weights, for factors without them.
#pragma once

#include <vector>

#include "mesh/element/basis_1d.hpp"
#include "operators/tensor/sweeps/even_odd_lines.cuh"

namespace tessera {

/// Whether factors come with the quadrature weights or the matrices have them on the way back.
enum class WeightsIn { factors, matrices };

/// The weight of a matrix's row q.
inline double row_weight(const Basis1D& basis, WeightsIn weights, int q) {
  return weights == WeightsIn::matrices ? basis.quadrature.weights[q] : 1.0;
}

/// The 1D matrices of n nodes and m points for factors that come without the quadrature weights W:
/// W B and W D W^-1 have them on the way back, for along each axis
///   B^T D^T (W x W x W) f = (W B)^T (W D W^-1)^T f.
template <class T, int n, int m>
struct WeightedMatrices {
  T B[m * n];           // [q][i]
  T D[m * m];           // [q][r]
  T B_weighted[m * n];  // w_q B[q][i]
  T D_weighted[m * m];  // w_q D[q][r] / w_r

  WeightedMatrices(const Basis1D& basis, WeightsIn weights);
};

/// W A split for even-odd, transposed.
template <class T, int m, int n>
EvenOddLines<T, n, m> weighted_transposed(const Matrix1D& A, const Basis1D& basis,
                                          WeightsIn weights) {
  return even_odd_transposed<T, m, n>(A, [&](int q) { return row_weight(basis, weights, q); });
}

/// The same split for even-odd, the weighted ones transposed.
template <class T, int n, int m>
struct PointSweepMatrices {
  EvenOddLines<T, m, n> B;
  EvenOddLines<T, m, m> D;
  EvenOddLines<T, n, m> B_weighted;
  EvenOddLines<T, m, m> D_weighted;

  PointSweepMatrices(const Basis1D& basis, WeightsIn weights)
      : B(even_odd_lines<T, m, n>(basis.B)),
        D(even_odd_lines<T, m, m>(basis.D)),
        B_weighted(weighted_transposed<T, m, n>(basis.B, basis, weights)),
        D_weighted(even_odd_lines<T, m, m>([&](int r, int q) {
          return row_weight(basis, weights, q) * basis.D(q, r) / row_weight(basis, weights, r);
        })) {}
};

/// Those that differentiate from the nodes: G = D B, so that
///   (W B)^T (W D W^-1)^T = (W G)^T.
template <class T, int n, int m>
struct SideBySideMatrices {
  EvenOddLines<T, m, n> B;
  EvenOddLines<T, m, n> G;
  EvenOddLines<T, n, m> B_weighted;
  EvenOddLines<T, n, m> G_weighted;

  SideBySideMatrices(const Basis1D& basis, WeightsIn weights)
      : B(even_odd_lines<T, m, n>(basis.B)),
        G(even_odd_lines<T, m, n>(basis.G)),
        B_weighted(weighted_transposed<T, m, n>(basis.B, basis, weights)),
        G_weighted(weighted_transposed<T, m, n>(basis.G, basis, weights)) {}
};

template <class T, int n, int m>
WeightedMatrices<T, n, m>::WeightedMatrices(const Basis1D& basis, WeightsIn weights) {
  for (int q = 0; q < m; ++q) {
    const double w = row_weight(basis, weights, q);
    for (int i = 0; i < n; ++i) {
      B[q * n + i] = static_cast<T>(basis.B(q, i));
      B_weighted[q * n + i] = static_cast<T>(w * basis.B(q, i));
    }
    for (int r = 0; r < m; ++r) {
      D[q * m + r] = static_cast<T>(basis.D(q, r));
      D_weighted[q * m + r] = static_cast<T>(w * basis.D(q, r) / row_weight(basis, weights, r));
    }
  }
}

}  // namespace tessera
