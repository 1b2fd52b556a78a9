// This file writes values of a face into vectors of the GPU.
#include "operators/load/dirichlet_values.hpp"
#include "operators/load/face_values.hpp"
#include "solvers/memory/entry_loop.cuh"

namespace tessera {

template <class T>
void DeviceFaceValues::set(DeviceVector<T>& u) const {
  const FaceNodes nodes = nodes_;
  const double* const values = values_.data();
  T* const entries = u.data();
  for_each_entry(nodes.count(), "values of a face", [=] __device__(Index k) {
    entries[nodes.node(k % nodes.counts[0], k / nodes.counts[0])] = static_cast<T>(values[k]);
  });
}

void DeviceFaceValues::add(double factor, DeviceVector<double>& u) const {
  const FaceNodes nodes = nodes_;
  const double* const values = values_.data();
  double* const entries = u.data();
  for_each_entry(nodes.count(), "values of a face", [=] __device__(Index k) {
    entries[nodes.node(k % nodes.counts[0], k / nodes.counts[0])] += factor * values[k];
  });
}

template <class T>
void DirichletValues::set(DeviceVector<T>& u) const {
  for (const DeviceFaceValues& face : on_device()) face.set(u);
}

template void DeviceFaceValues::set(DeviceVector<double>&) const;
template void DeviceFaceValues::set(DeviceVector<float>&) const;
template void DirichletValues::set(DeviceVector<double>&) const;
template void DirichletValues::set(DeviceVector<float>&) const;

}  // namespace tessera
