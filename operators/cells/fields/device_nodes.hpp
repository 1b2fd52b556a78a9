// DeviceNodes are the positions of a mapped mesh's nodes in GPU memory.
#pragma once

#include <array>
#include <functional>
#include <memory>
#include <span>
#include <utility>

#include "mesh/geometry/mapping.hpp"
#include "solvers/memory/device_array.hpp"

namespace tessera {

/// The positions of a mapped mesh's nodes in GPU memory. Those of coarser levels are made there.
class DeviceNodes final : public NodePositions {
 public:
  using Coordinates = std::array<DeviceArray<double>, 3>;

  /// Writes the positions of some nodes, one array an axis.
  using ReadSome = std::function<void(std::span<const Index>, const std::array<double*, 3>&)>;

  /// @param coordinates one an axis, [lattice.size()]
  /// @param read_some if given, spares the host a copy of all when it asks for some
  DeviceNodes(const NodeLattice& lattice, Coordinates coordinates, ReadSome read_some = {})
      : NodePositions(lattice, {}),
        coordinates_(std::move(coordinates)),
        read_some_(std::move(read_some)) {}

  const double* coordinate(int d) const { return coordinates_[d].data(); }
  void read(std::span<const Index> nodes, double* x, double* y, double* z) const override;
  std::shared_ptr<NodePositions> interpolated(const std::array<AxisMatrix, 3>& at_nodes,
                                              const NodeLattice& lattice) const override;

 private:
  std::array<HostArray<double>, 3> fetch() const override;

  Coordinates coordinates_;
  ReadSome read_some_;
};

/// The positions of the nodes in GPU memory: where they were made, or a copy that the mapping keeps
/// for all who ask; isoparametric only. @throws DeviceError
std::shared_ptr<const DeviceNodes> nodes_on_device(const Mapping& mapping);

}  // namespace tessera
