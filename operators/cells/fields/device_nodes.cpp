// This file copies and interpolates the positions of nodes in GPU memory.
#include "operators/cells/fields/device_nodes.hpp"

#include <algorithm>

#include "operators/cells/fields/device_interpolation.hpp"

namespace tessera {

std::array<HostArray<double>, 3> DeviceNodes::fetch() const {
  std::array<HostArray<double>, 3> result;
  for (int d = 0; d < lattice().dimension(); ++d) {
    result[d].resize(static_cast<std::size_t>(lattice().size()));
    copy_to_host(coordinates_[d].data(), coordinates_[d].bytes(), result[d].data());
  }
  return result;
}

void DeviceNodes::read(std::span<const Index> nodes, double* x, double* y, double* z) const {
  if (are_on_host() || !read_some_) return NodePositions::read(nodes, x, y, z);
  if (lattice().dimension() == 2) std::fill_n(z, nodes.size(), 0.0);
  read_some_(nodes, {x, y, z});
}

std::shared_ptr<NodePositions> DeviceNodes::interpolated(const std::array<AxisMatrix, 3>& at_nodes,
                                                         const NodeLattice& to_lattice) const {
  const DeviceInterpolation interpolation(at_nodes, lattice(), to_lattice);
  Coordinates coordinates;
  for (int a = 0; a < lattice().dimension(); ++a) {
    coordinates[a] = interpolation.apply(coordinates_[a].data());
  }
  return std::make_shared<DeviceNodes>(to_lattice, std::move(coordinates));
}

std::shared_ptr<const DeviceNodes> nodes_on_device(const Mapping& mapping) {
  const std::shared_ptr<const NodePositions> positions = mapping.positions();
  if (auto here = std::dynamic_pointer_cast<const DeviceNodes>(positions)) return here;
  return std::static_pointer_cast<const DeviceNodes>(positions->elsewhere([&] {
    DeviceNodes::Coordinates copies;
    for (int d = 0; d < mapping.lattice().dimension(); ++d) {
      const HostArray<double>& values = positions->on_host(d);
      copies[d] = DeviceArray<double>(mapping.lattice().size());
      copy_to_device(values.data(), copies[d].bytes(), copies[d].data());
    }
    return std::make_shared<const DeviceNodes>(mapping.lattice(), std::move(copies));
  }));
}

}  // namespace tessera
