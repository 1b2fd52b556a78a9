// A DeviceInterpolation takes functions in GPU memory from one lattice of nodes to another.
#pragma once

#include <array>
#include <vector>

#include "mesh/element/axis_matrix.hpp"
#include "mesh/node_lattice.hpp"
#include "solvers/memory/device_array.hpp"

namespace tessera {

/// A_x x A_y x A_z in GPU memory, from one lattice of nodes to another: the product along one axis
/// after the other, z (2D: y) first, as multiply_along_all() on the host.
class DeviceInterpolation {
 public:
  /// @param matrices one an axis. @throws DeviceError
  DeviceInterpolation(const std::array<AxisMatrix, 3>& matrices, const NodeLattice& from,
                      const NodeLattice& to);

  /// Launch: a thread a value, for each axis. @throws DeviceError
  DeviceArray<double> apply(const double* in) const;

  /// A matrix along one axis in GPU memory.
  struct Axis {
    explicit Axis(const AxisMatrix& matrix)
        : width(matrix.width), first(matrix.first), entries(matrix.entries) {}

    int width;
    DeviceArray<Index> first;
    DeviceArray<double> entries;  // [rows][width]
  };

 private:
  std::vector<Axis> axes_;
  IndexTriple from_;
  IndexTriple to_;
};

}  // namespace tessera
