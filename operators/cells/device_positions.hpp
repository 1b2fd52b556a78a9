// This function copies the positions of a mapped mesh's nodes to the GPU.
#pragma once

#include "mesh/geometry/mapping.hpp"
#include "solvers/memory/device_array.hpp"

namespace tessera {

/// Coordinate d of every node, in GPU memory; isoparametric only.
inline DeviceArray<double> positions_on_device(const Mapping& mapping, int d) {
  const HostArray<double>& values = mapping.coordinate(d);
  DeviceArray<double> positions(static_cast<std::int64_t>(values.size()));
  copy_to_device(values.data(), positions.bytes(), positions.data());
  return positions;
}

}  // namespace tessera
