// These 1D matrices contain the quadrature weights, for factors without them.
#pragma once

#include <vector>

#include "mesh/element/basis_1d.hpp"
#include "operators/tensor/gpu/even_odd_lines.cuh"

namespace tessera {

/// The 1D matrices of n nodes and m points for factors that come without the quadrature weights W:
/// W B and W D W^-1 have them on the way back, for along each axis
///   B^T D^T (W x W x W) f = (W B)^T (W D W^-1)^T f.
template <class T, int n, int m>
struct WeightedMatrices {
  T B[m * n];           // [q][i]
  T D[m * m];           // [q][r]
  T B_weighted[m * n];  // w_q B[q][i]
  T D_weighted[m * m];  // w_q D[q][r] / w_r
};

/// The same split for even-odd, the weighted ones transposed.
template <class T, int n, int m>
struct WeightedEvenOdd {
  EvenOddLines<T, m, n> B;
  EvenOddLines<T, m, m> D;
  EvenOddLines<T, n, m> B_weighted;
  EvenOddLines<T, m, m> D_weighted;
};

/// Splits M[a][b] = entry(a, b) for even-odd.
template <class T, int R, int C, class F>
EvenOddLines<T, R, C> even_odd_lines(F&& entry) {
  using Lines = EvenOddLines<T, R, C>;
  Lines lines{};
  for (int a = 0; a < Lines::kHalfRows; ++a) {
    for (int b = 0; b < Lines::kHalfColumns; ++b) {
      const double left = entry(a, b);
      const double right = entry(a, C - 1 - b);
      lines.even[a * Lines::kHalfColumns + b] = static_cast<T>(0.5 * (left + right));
      lines.odd[a * Lines::kHalfColumns + b] = static_cast<T>(0.5 * (left - right));
    }
  }
  return lines;
}

/// w_q D[q][r] / w_r.
inline double weighted_derivative(const Basis1D& basis, int q, int r) {
  const std::vector<double>& w = basis.quadrature.weights;
  return w[q] * basis.D(q, r) / w[r];
}

template <class T, int n, int m>
WeightedEvenOdd<T, n, m> weighted_even_odd(const Basis1D& basis) {
  WeightedEvenOdd<T, n, m> lines{};
  const std::vector<double>& w = basis.quadrature.weights;
  lines.B = even_odd_lines<T, m, n>([&](int q, int i) { return basis.B(q, i); });
  lines.D = even_odd_lines<T, m, m>([&](int q, int r) { return basis.D(q, r); });
  lines.B_weighted = even_odd_lines<T, n, m>([&](int i, int q) { return w[q] * basis.B(q, i); });
  lines.D_weighted =
      even_odd_lines<T, m, m>([&](int r, int q) { return weighted_derivative(basis, q, r); });
  return lines;
}

template <class T, int n, int m>
WeightedMatrices<T, n, m> weighted_matrices(const Basis1D& basis) {
  WeightedMatrices<T, n, m> lines{};
  for (int q = 0; q < m; ++q) {
    for (int i = 0; i < n; ++i) {
      lines.B[q * n + i] = static_cast<T>(basis.B(q, i));
      lines.B_weighted[q * n + i] = static_cast<T>(basis.quadrature.weights[q] * basis.B(q, i));
    }
    for (int r = 0; r < m; ++r) {
      lines.D[q * m + r] = static_cast<T>(basis.D(q, r));
      lines.D_weighted[q * m + r] = static_cast<T>(weighted_derivative(basis, q, r));
    }
  }
  return lines;
}

}  // namespace tessera
