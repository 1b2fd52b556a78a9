// This file evaluates a map at the nodes of the lattice.
#include "mesh/geometry/mapping.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "mesh/errors.hpp"
#include "mesh/partition.hpp"

namespace tessera {
namespace {

constexpr Index kBlock = 1024;
constexpr std::array<const char*, 3> kAxisNames = {"x", "y", "z"};

std::array<std::vector<double>, 3> node_lines(const BoxMesh& mesh, const NodeLattice& lattice,
                                              const std::vector<double>& nodes) {
  std::array<std::vector<double>, 3> lines;
  const int p = lattice.degree();
  for (int d = 0; d < 3; ++d) {
    lines[d].assign(static_cast<std::size_t>(lattice.extents()[d]), mesh.lower()[d]);
    if (d >= mesh.dimension()) continue;
    for (Index c = 0; c < mesh.cells()[d]; ++c) {
      const double begin = mesh.grid_line(d, c);
      const double width = mesh.grid_line(d, c + 1) - begin;
      for (int i = 0; i < p; ++i) lines[d][c * p + i] = begin + width * nodes[i];
    }
    lines[d].back() = mesh.upper()[d];
  }
  return lines;
}

}  // namespace

Mapping::Mapping(const BoxMesh& mesh, const NodeLattice& lattice, const std::vector<double>& nodes)
    : lattice_(lattice), is_uniform_(mesh.is_uniform()), lines_(node_lines(mesh, lattice, nodes)) {}

Mapping::Mapping(const BoxMesh& mesh, const NodeLattice& lattice, const std::vector<double>& nodes,
                 const std::array<ScalarField, 3>& components)
    : Mapping(mesh, lattice, nodes) {
  std::array<HostArray<double>, 3> mapped;
  for (int d = 0; d < mesh.dimension(); ++d) {
    mapped[d].resize(static_cast<std::size_t>(lattice.size()));
  }
  parallel_ranges(lattice.size(), [&](Range range) {
    std::vector<double> x(kBlock);
    std::vector<double> y(kBlock);
    std::vector<double> z(kBlock);
    for (Index first = range.begin; first < range.end; first += kBlock) {
      const Index count = std::min(kBlock, range.end - first);
      node_positions(first, count, x.data(), y.data(), z.data());
      const PointBlock block{static_cast<std::size_t>(count), x.data(), y.data(), z.data()};
      for (int d = 0; d < mesh.dimension(); ++d) {
        double* out = mapped[d].data() + first;
        components[d].evaluate(block, out);
        for (Index i = 0; i < count; ++i) {
          if (std::isfinite(out[i])) continue;
          throw BadFieldValue(
              std::string("component ") + kAxisNames[d] + " of the map is not finite, box point",
              {x[i], y[i], z[i]}, out[i]);
        }
      }
    }
  });
  positions_ = std::make_shared<NodePositions>(lattice, std::move(mapped));
}

Mapping::Mapping(const BoxMesh& mesh, const NodeLattice& lattice, const std::vector<double>& nodes,
                 std::array<HostArray<double>, 3> coordinates)
    : Mapping(mesh, lattice, nodes,
              std::make_shared<NodePositions>(lattice, std::move(coordinates))) {}

Mapping::Mapping(const BoxMesh& mesh, const NodeLattice& lattice, const std::vector<double>& nodes,
                 std::shared_ptr<NodePositions> positions)
    : lattice_(lattice),
      is_uniform_(mesh.is_uniform()),
      lines_(node_lines(mesh, lattice, nodes)),
      positions_(std::move(positions)) {}

std::array<HostArray<double>, 3> Mapping::take_coordinates() && {
  if (positions_.use_count() == 1) return positions_->take();
  std::array<HostArray<double>, 3> coordinates;
  for (int d = 0; d < lattice_.dimension(); ++d) coordinates[d] = positions_->on_host(d);
  return coordinates;
}

void Mapping::node_positions(Index first, Index count, double* x, double* y, double* z) const {
  if (!is_cartesian()) {
    if (!positions_->are_on_host()) {
      std::vector<Index> nodes(static_cast<std::size_t>(count));
      std::iota(nodes.begin(), nodes.end(), first);
      positions_->read(nodes, x, y, z);
      return;
    }
    std::copy_n(coordinate(0).data() + first, count, x);
    std::copy_n(coordinate(1).data() + first, count, y);
    if (lattice_.dimension() == 3) {
      std::copy_n(coordinate(2).data() + first, count, z);
    } else {
      std::fill_n(z, count, 0.0);
    }
    return;
  }
  IndexTriple position = lattice_.node_position(first);
  for (Index i = 0; i < count; ++i) {
    x[i] = lines_[0][position[0]];
    y[i] = lines_[1][position[1]];
    z[i] = lines_[2][position[2]];
    if (++position[0] < lattice_.extents()[0]) continue;
    position[0] = 0;
    if (++position[1] < lattice_.extents()[1]) continue;
    position[1] = 0;
    ++position[2];
  }
}

void Mapping::node_positions(std::span<const Index> nodes, double* x, double* y, double* z) const {
  if (!is_cartesian()) return positions_->read(nodes, x, y, z);
  for (std::size_t i = 0; i < nodes.size(); ++i) node_positions(nodes[i], 1, x + i, y + i, z + i);
}

Index Mapping::bytes() const {
  Index values = 0;
  for (int d = 0; d < 3; ++d) values += static_cast<Index>(lines_[d].size());
  if (!is_cartesian() && positions_->are_on_host()) {
    values += lattice_.dimension() * lattice_.size();
  }
  return values * static_cast<Index>(sizeof(double));
}

}  // namespace tessera
