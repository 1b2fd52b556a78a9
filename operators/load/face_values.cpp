// This file writes values of a face into vectors of the host.
#include "operators/load/face_values.hpp"

namespace tessera {
namespace {

// f(u_i, value_i) for the nodes of the face.
template <class F>
void for_each_value(const FaceValues& face, HostVector<double>& u, F&& f) {
  const FaceNodes& nodes = face.nodes;
#pragma omp parallel for schedule(static)
  for (Index k = 0; k < nodes.count(); ++k) {
    f(u[nodes.node(k % nodes.counts[0], k / nodes.counts[0])], face.values[k]);
  }
}

}  // namespace

void set(const FaceValues& face, HostVector<double>& u) {
  for_each_value(face, u, [](double& entry, double value) { entry = value; });
}

void add(const FaceValues& face, HostVector<double>& u) {
  for_each_value(face, u, [](double& entry, double value) { entry += value; });
}

}  // namespace tessera
