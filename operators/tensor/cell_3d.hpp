// These are the sweeps of a batch of 3D cells with all sizes known at compile time.
#pragma once

#include <array>

#include "mesh/element/line_product.hpp"
#include "operators/cells/prefetch.hpp"
#include "operators/tensor/cell_sweeps.hpp"

namespace tessera {

/// What there is to do ahead where nothing is.
struct NothingAhead {
  void advance() {}
};

/// How far apart the planes [m][m] of scratch are: where m^2 vectors of 64 bytes are a multiple of
/// 4 KiB, all values of a line along z would fall into one set of the L1 cache.
constexpr int plane_stride(int m) { return m % 8 == 0 ? m * m + 1 : m * m; }

/// Values U = B u in a and dU/dz in b at the points of a batch of 3D cells: u [n][n][n] ->
/// [m][m][m], in a with planes `stride` apart. Where the points are the nodes, U is u itself and a
/// is left alone.
template <Points points, class T, int N, int M, class Ahead>
[[gnu::always_inline]] inline void to_points_3d(const LineMatrix<T, M, N>& B,
                                                const LineMatrix<T, M, N>& G, const Lanes<T>* u,
                                                Lanes<T>* a, int stride, Lanes<T>* b,
                                                Ahead& ahead) {
  constexpr bool kInterpolates = points == Points::own;
  constexpr int kPlane = M * M;
  const Lanes<T>* columns = u;
  int apart = kPlane;
  if constexpr (kInterpolates) {
    // a plane at a time, so that what is between the passes stays in L1:
    for (int k = 0; k < N; ++k) {
      // x: u [n][n] -> the first values of b [n][m]
      for (int j = 0; j < N; ++j) {
        ahead.advance();
        FoldedLine<T, M> out;
        add_product<Parity::even>(B, fold<T, N>(u + (k * N + j) * N, 1), out);
        unfold(out, b + j * M, 1);
      }
      // y: -> a [m][m]
      for (int i = 0; i < M; ++i) {
        ahead.advance();
        FoldedLine<T, M> out;
        add_product<Parity::even>(B, fold<T, N>(b + i, M), out);
        unfold(out, a + k * stride + i, M);
      }
    }
    columns = a;
    apart = stride;
  }
  // z: [n][m][m] -> [m][m][m], in place
  for (int column = 0; column < kPlane; ++column) {
    ahead.advance();
    const FoldedLine<T, N> in = fold<T, N>(columns + column, apart);
    FoldedLine<T, M> derivative;
    add_product<Parity::odd>(G, in, derivative);
    if constexpr (kInterpolates) {
      FoldedLine<T, M> value;
      add_product<Parity::even>(B, in, value);
      unfold(value, a + column, stride);
    }
    unfold(derivative, b + column, kPlane);
  }
}

/// Asks for one third of the rows that have this line's number; there may be more lines than rows.
template <int third, int N, class T>
[[gnu::always_inline]] inline void ask_for_third(RowsAhead<T> rows, int line) {
  if constexpr (N - 1 >= kMinDegreeToAsk) {
    if (line < N * N) rows.template ask<N - 1, third, 3>(line);
  }
}

/// v = B^T D B u of a batch of 3D cells with all sizes known at compile time: n = N nodes and
/// m = M points an axis, tensors [z][y][x], every entry a Lanes<T>. The matrices of the way back
/// are those of the way there, or have the quadrature weights that the factors come without.
///
/// multiply(q, gx, gy, gz) replaces the three arrays of the M points q .. q + M - 1 of an x line
/// by D_q times them; lines come in order. A reaction adds r_q U at the points. ahead.advance() is
/// called for each of about 9 m^2 lines of values, and `rows` are asked for. scratch has 2
/// m^3 + m^2 + m entries.
template <Points points, class T, int N, int M, class Multiply, class Ahead>
[[gnu::always_inline]] inline void apply_gradient_3d(const SweepMatrices<T, N, M>& there,
                                                     const SweepMatrices<T, N, M>& back,
                                                     const Lanes<T>* u, Lanes<T>* v,
                                                     Lanes<T>* scratch, Multiply&& multiply,
                                                     PointReaction<T> reaction, Ahead ahead,
                                                     RowsAhead<T> rows) {
  constexpr bool kInterpolates = points == Points::own;
  constexpr int kPlane = M * M;
  constexpr int kStride = plane_stride(M);
  Lanes<T>* a = scratch;
  Lanes<T>* gy = a + M * kStride;
  // v is free until the last pass, which goes line by line; the less memory, the more of it in L1.
  Lanes<T>* b = M == N ? v : gy + kPlane;
  to_points_3d<points>(there.B, there.G, u, a, kStride, b, ahead);
  // x and y derivatives, factors and their transposes, a plane at a time
  for (int k = 0; k < M; ++k) {
    const Lanes<T>* U = kInterpolates ? a + k * kStride : u + k * kPlane;
    Lanes<T>* sum = a + k * kStride;
    for (int i = 0; i < M; ++i) {
      ahead.advance();
      ask_for_third<0, N>(rows, k * M + i);
      FoldedLine<T, M> out;
      add_product<Parity::odd>(there.D, fold<T, M>(U + i, M), out);
      unfold(out, gy + i, M);
    }
    for (int j = 0; j < M; ++j) {
      ahead.advance();
      Lanes<T> gx[M];
      FoldedLine<T, M> derivative;
      add_product<Parity::odd>(there.D, fold<T, M>(U + j * M, 1), derivative);
      unfold(derivative, gx, 1);
      const int line = k * kPlane + j * M;
      multiply(line, gx, gy + j * M, b + line);
      FoldedLine<T, M> out;
      add_transposed_product<Parity::odd>(back.D, fold<T, M>(gx, 1), out);
      if (reaction.values != nullptr) {
        // U may lie where the sum goes.
        for (int i = 0; i < M; ++i) {
          gx[i] = reaction.scale * reaction.values[line + i] * U[j * M + i];
        }
      }
      unfold(out, sum + j * M, 1);
      if (reaction.values != nullptr) {
        for (int i = 0; i < M; ++i) sum[j * M + i] += gx[i];
      }
    }
    for (int i = 0; i < M; ++i) {
      ahead.advance();
      ask_for_third<1, N>(rows, k * M + i);
      FoldedLine<T, M> out;
      add_transposed_product<Parity::odd>(back.D, fold<T, M>(gy + i, M), out);
      unfold<Store::add>(out, sum + i, M);
    }
  }
  // z back: a, b -> [n][m][m]
  for (int column = 0; column < kPlane; ++column) {
    ahead.advance();
    ask_for_third<2, N>(rows, column);
    FoldedLine<T, N> out;
    add_transposed_product<Parity::odd>(back.G, fold<T, M>(b + column, kPlane), out);
    if constexpr (kInterpolates) {
      add_transposed_product<Parity::even>(back.B, fold<T, M>(a + column, kStride), out);
      unfold(out, a + column, kStride);
    } else {
      unfold<Store::add>(out, a + column, kStride);
    }
  }
  if constexpr (kInterpolates) {
    for (int k = 0; k < N; ++k) {
      // y back: a [m][m] -> b [n][m]
      Lanes<T>* between = b + k * N * M;
      for (int i = 0; i < M; ++i) {
        ahead.advance();
        FoldedLine<T, N> out;
        add_transposed_product<Parity::even>(back.B, fold<T, M>(a + k * kStride + i, M), out);
        unfold(out, between + i, M);
      }
      // x back: -> v [n][n]
      for (int j = 0; j < N; ++j) {
        ahead.advance();
        FoldedLine<T, N> out;
        add_transposed_product<Parity::even>(back.B, fold<T, M>(between + j * M, 1), out);
        unfold(out, v + (k * N + j) * N, 1);
      }
    }
  } else {
    for (int k = 0; k < N; ++k) {
      for (int i = 0; i < N * N; ++i) v[k * N * N + i] = a[k * kStride + i];
    }
  }
}

/// v = (s_x K (x) M (x) M + s_y M (x) K (x) M + s_z M (x) M (x) K) u of a batch of equal 3D cells
/// (each K with its s): seven products along lines, three passes. `rows` are asked for.
/// scratch has n^3 + n entries.
template <class T, int N>
[[gnu::always_inline]] inline void apply_separable_3d(
    const EvenOddMatrix<T>& mass, const std::array<EvenOddMatrix<T>, 3>& stiffness,
    const Lanes<T>* u, Lanes<T>* v, Lanes<T>* scratch, RowsAhead<T> rows) {
  constexpr int kPlane = N * N;
  constexpr int kStride = plane_stride(N);
  Lanes<T>* a = scratch;
  Lanes<T>* b = v;
  const LineMatrix<T, N, N> M(mass);
  {
    // x: a = M u, b = s_x K u
    const LineMatrix<T, N, N> K(stiffness[0]);
    for (int k = 0; k < N; ++k) {
      for (int j = 0; j < N; ++j) {
        const int line = (k * N + j) * N;
        ask_for_third<0, N>(rows, k * N + j);
        const FoldedLine<T, N> in = fold<T, N>(u + line, 1);
        FoldedLine<T, N> Mu;
        FoldedLine<T, N> Ku;
        add_product<Parity::even>(M, in, Mu);
        add_product<Parity::even>(K, in, Ku);
        unfold(Mu, a + k * kStride + j * N, 1);
        unfold(Ku, b + line, 1);
      }
    }
  }
  {
    // y: a = M a, b = M b + s_y K a, in place
    const LineMatrix<T, N, N> K(stiffness[1]);
    for (int k = 0; k < N; ++k) {
      for (int i = 0; i < N; ++i) {
        Lanes<T>* a_line = a + k * kStride + i;
        Lanes<T>* b_line = b + k * kPlane + i;
        ask_for_third<1, N>(rows, k * N + i);
        const FoldedLine<T, N> in = fold<T, N>(a_line, N);
        FoldedLine<T, N> value;
        FoldedLine<T, N> sum;
        add_product<Parity::even>(M, in, value);
        add_product<Parity::even>(K, in, sum);
        add_product<Parity::even>(M, fold<T, N>(b_line, N), sum);
        unfold(value, a_line, N);
        unfold(sum, b_line, N);
      }
    }
  }
  {
    // z: v = M b + s_z K a
    const LineMatrix<T, N, N> K(stiffness[2]);
    for (int column = 0; column < kPlane; ++column) {
      ask_for_third<2, N>(rows, column);
      FoldedLine<T, N> sum;
      add_product<Parity::even>(M, fold<T, N>(b + column, kPlane), sum);
      add_product<Parity::even>(K, fold<T, N>(a + column, kStride), sum);
      unfold(sum, v + column, kPlane);
    }
  }
}

}  // namespace tessera
