// These are the arguments of the kernel of resident conjugate gradients.
#pragma once

#include "operators/kronecker/arguments.cuh"
#include "operators/kronecker/resident/launch.hpp"
#include "solvers/krylov/iteration_kernels.cuh"

namespace tessera {

/// What the kernel gets. Along x, `unit` has K + r M for the stiffness, r the reaction.
template <int P>
struct ResidentArguments {
  ResidentAxis axis[3];
  UnitMatrices<double, P> unit[3];
  ResidentVectors<double> v;
  double* step;
  double* exchange;
  double* faces;
  const FaceNode* face_nodes;
  const EdgeNode* edge_nodes;
  const SharedCount* shared_count;
  int max_shared;
  int max_edges;
  int max_face;
  int shared_values;
  int max_nodes;
  double* partial;  // [2][blocks]
  IterationState* state;
  int iterations;

  __host__ ResidentArguments(const ResidentData& data, int iterations,
                             const ResidentVectors<double>& vectors, IterationState* state)
      : v(vectors),
        step(data.step),
        exchange(data.exchange),
        faces(data.faces),
        face_nodes(data.face_nodes),
        edge_nodes(data.edge_nodes),
        shared_count(data.shared_count),
        max_shared(data.max_shared),
        max_edges(data.max_edges),
        max_face(data.max_face),
        shared_values(data.shared_values),
        max_nodes(data.max_nodes),
        partial(data.partial),
        state(state),
        iterations(iterations) {
    for (int d = 0; d < 3; ++d) {
      axis[d] = data.axis[d];
      for (int e = 0; e < distinct_entries(P); ++e) {
        unit[d].entries[e] = data.matrices[d].entries[e];
      }
    }
    for (EntryPair<double>& e : unit[0].entries) e.stiffness += data.reaction * e.mass;
    for (UnitMatrices<double, P>& matrices : unit) {
      const EntryPair<double> corner = matrices.entries[0];
      matrices.vertex = {2.0 * corner.mass, 2.0 * corner.stiffness};
    }
  }
};

}  // namespace tessera
