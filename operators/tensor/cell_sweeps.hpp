// This is what the sweeps of batches of cells with sizes known at compile time are given.
#pragma once

#include "mesh/element/line_product.hpp"

namespace tessera {

/// Whether the points are the nodes, so that B is the identity.
enum class Points { own, nodes };

/// Calls f.operator()<points>(), also where the number of points says that they are not the nodes.
template <int N, int M, class F>
[[gnu::always_inline]] inline void with_points(Points points, F&& f) {
  if constexpr (N == M) {
    if (points == Points::nodes) return f.template operator()<Points::nodes>();
  }
  f.template operator()<Points::own>();
}

/// r_q = scale * values[q] at the points of a batch, [m]^d; no reaction where values is null.
template <class T>
struct PointReaction {
  const Lanes<T>* values;
  T scale;
};

/// The 1D matrices of one way between N nodes and M points.
template <class T, int N, int M>
struct SweepMatrices {
  LineMatrix<T, M, N> B, G;
  LineMatrix<T, M, M> D;

  SweepMatrices(const EvenOddMatrix<T>& B_in, const EvenOddMatrix<T>& G_in,
                const EvenOddMatrix<T>& D_in)
      : B(B_in), G(G_in), D(D_in) {}
};

/// (x, y) = D (x, y) with the entries xx xy yy of D.
template <class V>
[[gnu::always_inline]] inline void multiply_by_entries(const V* entries, V& x, V& y) {
  const V x_in = x;
  const V y_in = y;
  x = entries[0] * x_in + entries[1] * y_in;
  y = entries[1] * x_in + entries[2] * y_in;
}

/// (x, y, z) = D (x, y, z) with the entries xx xy xz yy yz zz of D.
template <class V>
[[gnu::always_inline]] inline void multiply_by_entries(const V* entries, V& x, V& y, V& z) {
  const V x_in = x;
  const V y_in = y;
  const V z_in = z;
  x = entries[0] * x_in + entries[1] * y_in + entries[2] * z_in;
  y = entries[1] * x_in + entries[3] * y_in + entries[4] * z_in;
  z = entries[2] * x_in + entries[4] * y_in + entries[5] * z_in;
}

}  // namespace tessera
