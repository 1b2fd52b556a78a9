// These are the sweeps of a batch of 2D cells with all sizes known at compile time.
#pragma once

#include <array>

#include "operators/tensor/cell_sweeps.hpp"

namespace tessera {

/// v = B^T D B u of a batch of 2D cells: n = N nodes and m = M points an axis, tensors [y][x],
/// every entry a Lanes<T>. Values and derivatives go side by side, for with G = D B
///
///   u [n][n] -> a = B u, b = G u along y [m][n] -> g_x = G a, g_y = B b along x, f = D_q g,
///   a = G^T f_x, b = B^T f_y along x [m][n] -> v = B^T a + G^T b along y,
///
/// so that a line of points is in registers from its gradient on. Where the points are the nodes, a
/// is u itself and g_y is b.
///
/// multiply(q, gx, gy) replaces both arrays of the M points q .. q + M - 1 of an x line by D_q
/// times them; lines come in order. A reaction adds r_q B a at the points. ahead.advance() is
/// called for 2 N + 2 M lines of values. scratch has 2 m n entries.
template <Points points, class T, int N, int M, class Multiply, class Ahead>
[[gnu::always_inline]] inline void apply_gradient_2d(const SweepMatrices<T, N, M>& matrices,
                                                     const Lanes<T>* u, Lanes<T>* v,
                                                     Lanes<T>* scratch, Multiply&& multiply,
                                                     PointReaction<T> reaction, Ahead ahead) {
  constexpr bool kInterpolates = points == Points::own;
  Lanes<T>* const a = scratch;
  Lanes<T>* const b = a + M * N;
  const LineMatrix<T, M, N>& B = matrices.B;
  const LineMatrix<T, M, N>& G = matrices.G;
  // y: a = B u, b = G u
  for (int i = 0; i < N; ++i) {
    ahead.advance();
    const FoldedLine<T, N> in = fold<T, N>(u + i, N);
    FoldedLine<T, M> derivative;
    add_product<Parity::odd>(G, in, derivative);
    unfold(derivative, b + i, N);
    if constexpr (kInterpolates) {
      FoldedLine<T, M> value;
      add_product<Parity::even>(B, in, value);
      unfold(value, a + i, N);
    }
  }
  // x: to the points, D_q and back, in place
  for (int j = 0; j < M; ++j) {
    ahead.advance();
    Lanes<T>* const b_row = b + j * N;
    const FoldedLine<T, N> in = fold<T, N>((kInterpolates ? a : u) + j * N, 1);
    Lanes<T> gx[M];
    Lanes<T> gy[M];
    Lanes<T> value[M];
    FoldedLine<T, M> along_x;
    add_product<Parity::odd>(G, in, along_x);
    unfold(along_x, gx, 1);
    if constexpr (kInterpolates) {
      FoldedLine<T, M> along_y;
      add_product<Parity::even>(B, fold<T, N>(b_row, 1), along_y);
      unfold(along_y, gy, 1);
    } else {
      for (int i = 0; i < M; ++i) gy[i] = b_row[i];
    }
    if (reaction.values != nullptr) {
      FoldedLine<T, M> at_points;
      if constexpr (kInterpolates) {
        add_product<Parity::even>(B, in, at_points);
        unfold(at_points, value, 1);
      } else {
        for (int i = 0; i < M; ++i) value[i] = u[j * N + i];
      }
      for (int i = 0; i < M; ++i) value[i] *= reaction.scale * reaction.values[j * M + i];
    }
    multiply(j * M, gx, gy);
    ahead.advance();
    FoldedLine<T, N> sum;
    add_transposed_product<Parity::odd>(G, fold<T, M>(gx, 1), sum);
    if constexpr (kInterpolates) {
      if (reaction.values != nullptr) {
        add_transposed_product<Parity::even>(B, fold<T, M>(value, 1), sum);
      }
      unfold(sum, a + j * N, 1);
      FoldedLine<T, N> along_y;
      add_transposed_product<Parity::even>(B, fold<T, M>(gy, 1), along_y);
      unfold(along_y, b_row, 1);
    } else {
      unfold(sum, a + j * N, 1);
      for (int i = 0; i < M; ++i) {
        if (reaction.values != nullptr) a[j * N + i] += value[i];
        b_row[i] = gy[i];
      }
    }
  }
  // y back: v = B^T a + G^T b
  for (int i = 0; i < N; ++i) {
    ahead.advance();
    FoldedLine<T, N> sum;
    add_transposed_product<Parity::odd>(G, fold<T, M>(b + i, N), sum);
    if constexpr (kInterpolates) {
      add_transposed_product<Parity::even>(B, fold<T, M>(a + i, N), sum);
      unfold(sum, v + i, N);
    } else {
      unfold(sum, v + i, N);
      for (int j = 0; j < N; ++j) v[j * N + i] += a[j * N + i];
    }
  }
}

/// v = (s_x K (x) M + s_y M (x) K) u of a batch of equal 2D cells (each K with its s): four
/// products along lines, two passes. scratch has 2 n^2 entries.
template <class T, int N>
[[gnu::always_inline]] inline void apply_separable_2d(
    const EvenOddMatrix<T>& mass, const std::array<EvenOddMatrix<T>, 3>& stiffness,
    const Lanes<T>* u, Lanes<T>* v, Lanes<T>* scratch) {
  Lanes<T>* const a = scratch;
  Lanes<T>* const b = a + N * N;
  const LineMatrix<T, N, N> M(mass);
  const LineMatrix<T, N, N> K_x(stiffness[0]);
  const LineMatrix<T, N, N> K_y(stiffness[1]);
  // y: a = M u, b = s_y K u
  for (int i = 0; i < N; ++i) {
    const FoldedLine<T, N> in = fold<T, N>(u + i, N);
    FoldedLine<T, N> Mu;
    FoldedLine<T, N> Ku;
    add_product<Parity::even>(M, in, Mu);
    add_product<Parity::even>(K_y, in, Ku);
    unfold(Mu, a + i, N);
    unfold(Ku, b + i, N);
  }
  // x: v = s_x K a + M b
  for (int j = 0; j < N; ++j) {
    FoldedLine<T, N> sum;
    add_product<Parity::even>(K_x, fold<T, N>(a + j * N, 1), sum);
    add_product<Parity::even>(M, fold<T, N>(b + j * N, 1), sum);
    unfold(sum, v + j * N, 1);
  }
}

}  // namespace tessera
