// This is what the sweeps of batches of cells with sizes known at compile time are given.
#pragma once

#include "mesh/element/line_product.hpp"

namespace tessera {

/// Whether the points are the nodes, so that B is the identity.
enum class Points { own, nodes };

/// r_q = scale * values[q] [m][m][m] at the points of a batch; no reaction where values is null.
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

}  // namespace tessera
