// This file keeps and interpolates the positions of nodes on the host.
#include "mesh/geometry/node_positions.hpp"

#include <utility>

#include "mesh/element/axis_matrix.hpp"

namespace tessera {

const HostArray<double>& NodePositions::on_host(int d) const {
  std::call_once(fetched_, [&] {
    if (!are_on_host()) on_host_ = fetch();
  });
  return on_host_[d];
}

std::array<HostArray<double>, 3> NodePositions::take() {
  on_host(0);
  return std::move(on_host_);
}

void NodePositions::read(std::span<const Index> nodes, double* x, double* y, double* z) const {
  double* const to[3] = {x, y, z};
  for (int d = 0; d < 3; ++d) {
    const double* const from = d < lattice_.dimension() ? on_host(d).data() : nullptr;
    for (std::size_t i = 0; i < nodes.size(); ++i)
      to[d][i] = from == nullptr ? 0.0 : from[nodes[i]];
  }
}

std::shared_ptr<NodePositions> NodePositions::interpolated(
    const std::array<AxisMatrix, 3>& at_nodes, const NodeLattice& lattice) const {
  std::array<HostArray<double>, 3> coordinates;
  for (int a = 0; a < lattice.dimension(); ++a) {
    coordinates[a] =
        multiply_along_all(at_nodes, lattice_.extents(), lattice.extents(), on_host(a).data());
  }
  return std::make_shared<NodePositions>(lattice, std::move(coordinates));
}

std::shared_ptr<const NodePositions> NodePositions::elsewhere(
    const std::function<std::shared_ptr<const NodePositions>()>& make) const {
  const std::lock_guard lock(making_);
  if (elsewhere_ == nullptr) elsewhere_ = make();
  return elsewhere_;
}

}  // namespace tessera
