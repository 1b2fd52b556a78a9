// This file copies and interpolates the positions of nodes in GPU memory.
#include <algorithm>
#include <vector>

#include "mesh/element/axis_matrix.hpp"
#include "operators/cells/fields/device_nodes.hpp"
#include "solvers/memory/entry_loop.cuh"

namespace tessera {
namespace {

// A matrix along one axis in GPU memory.
struct DeviceAxisMatrix {
  explicit DeviceAxisMatrix(const AxisMatrix& matrix)
      : width(matrix.width), first(matrix.first), entries(matrix.entries) {}

  int width;
  DeviceArray<Index> first;
  DeviceArray<double> entries;  // [rows][width]
};

// out = A in along axis d, from a box of nodes to another.
void multiply_on_gpu(const DeviceAxisMatrix& matrix, const IndexBox& from, const IndexBox& to,
                     int d, const double* in, double* out) {
  const Index inner = to.strides[d];
  const Index rows = to.extents[d];
  const Index columns = from.extents[d];
  const int width = matrix.width;
  const Index* const first = matrix.first.data();
  const double* const entries = matrix.entries.data();
  for_each_entry(to.size(), "interpolating positions", [=] __device__(Index at) {
    const Index line = at / inner;
    const Index r = line % rows;
    const double* const values = in + (line / rows * columns + first[r]) * inner + at % inner;
    double sum = 0.0;
    for (int k = 0; k < width; ++k) sum += entries[r * width + k] * values[k * inner];
    out[at] = sum;
  });
}

}  // namespace

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
  const int dimension = lattice().dimension();
  std::vector<DeviceAxisMatrix> matrices;
  for (int d = 0; d < dimension; ++d) matrices.emplace_back(at_nodes[d]);
  Coordinates coordinates;
  for (int a = 0; a < dimension; ++a) {
    const double* in = coordinates_[a].data();
    IndexTriple extents = lattice().extents();
    for (int d = dimension - 1; d >= 0; --d) {
      IndexTriple to = extents;
      to[d] = to_lattice.extents()[d];
      DeviceArray<double> out(IndexBox(to).size());
      multiply_on_gpu(matrices[d], IndexBox(extents), IndexBox(to), d, in, out.data());
      // What was read goes now, which waits for the GPU.
      coordinates[a] = std::move(out);
      in = coordinates[a].data();
      extents = to;
    }
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
