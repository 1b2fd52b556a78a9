// FaceValues are numbers at the nodes of a face of the box.
#pragma once

#include <vector>

#include "mesh/node_lattice.hpp"
#include "solvers/memory/device_array.hpp"
#include "solvers/memory/vector.hpp"

namespace tessera {

/// Numbers at the nodes of one face, [counts[1]][counts[0]] as those of `nodes`.
struct FaceValues {
  FaceNodes nodes;
  std::vector<double> values;
};

/// u_i = value_i at the nodes of the face; parallel.
void set(const FaceValues& face, HostVector<double>& u);
/// u_i += value_i at the nodes of the face; parallel.
void add(const FaceValues& face, HostVector<double>& u);

/// FaceValues in GPU memory.
class DeviceFaceValues {
 public:
  /// @throws DeviceError
  explicit DeviceFaceValues(const FaceValues& face) : nodes_(face.nodes), values_(face.values) {}

  /// u_i = value_i at the nodes of the face. @throws DeviceError
  template <class T>
  void set(DeviceVector<T>& u) const;
  /// u_i += factor value_i at the nodes of the face. @throws DeviceError
  void add(double factor, DeviceVector<double>& u) const;

 private:
  FaceNodes nodes_;
  DeviceArray<double> values_;
};

}  // namespace tessera
