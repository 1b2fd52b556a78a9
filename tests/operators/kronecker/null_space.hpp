// This file checks that an operator maps constants to zero.
#pragma once

#include "tests/operators/problems.hpp"

namespace tessera::testing {

/// Of y = A x, x a positive constant: how many nodes are not exactly 0, or on Robin faces not
/// positive. No face has Dirichlet data.
template <class Vector>
Index wrong_products_of_a_constant(const Problem& problem, const Vector& y) {
  const NodeLattice& lattice = problem.discretization->lattice;
  FaceSet robin;
  for (const RobinTerm& term : problem.form.robin) robin.set(term.face);
  Index wrong = 0;
  Index node = 0;
  for (Index k = 0; k < lattice.extents()[2]; ++k) {
    for (Index j = 0; j < lattice.extents()[1]; ++j) {
      for (Index i = 0; i < lattice.extents()[0]; ++i, ++node) {
        wrong += lattice.on_faces({i, j, k}, robin) ? !(y[node] > 0) : y[node] != 0;
      }
    }
  }
  return wrong;
}

}  // namespace tessera::testing
