// These functions visit the nodes on faces, whose rows are those of the identity.
#pragma once

#include "mesh/face.hpp"
#include "mesh/node_lattice.hpp"
#include "operators/form/bilinear_form.hpp"
#include "solvers/memory/vector.hpp"

namespace tessera {

/// Calls f(node) for every node on one of the faces, in parallel; a node on several faces is
/// visited once for each.
template <class F>
void for_each_face_node(const NodeLattice& lattice, FaceSet faces, F&& f) {
  for (int face = 0; face < face_count(lattice.dimension()); ++face) {
    if (!faces[face]) continue;
    const FaceNodes nodes = face_nodes(lattice, face);
    // The longer axis is shared out: counts[1] is 1 in 2D.
    const bool by_second = nodes.counts[1] > 1;
    const Index outer = by_second ? nodes.counts[1] : nodes.counts[0];
    const Index inner = by_second ? nodes.counts[0] : 1;
#pragma omp parallel for schedule(static)
    for (Index a = 0; a < outer; ++a) {
      for (Index b = 0; b < inner; ++b) f(by_second ? nodes.node(b, a) : nodes.node(a, b));
    }
  }
}

/// b_i = 0 in the rows that are constrained; parallel.
inline void clear_constrained_rows(const BilinearForm& form, HostVector<double>& b) {
  for_each_face_node(form.discretization->lattice, form.dirichlet,
                     [&](Index node) { b[node] = 0.0; });
}

}  // namespace tessera
