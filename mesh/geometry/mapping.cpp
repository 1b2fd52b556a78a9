// This file evaluates a map at the nodes of the lattice.
#include "mesh/geometry/mapping.hpp"

#include <algorithm>
#include <cmath>

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
  coordinates_ = std::move(mapped);
}

Mapping::Mapping(const BoxMesh& mesh, const NodeLattice& lattice, const std::vector<double>& nodes,
                 std::array<HostArray<double>, 3> coordinates)
    : lattice_(lattice),
      is_uniform_(mesh.is_uniform()),
      lines_(node_lines(mesh, lattice, nodes)),
      coordinates_(std::move(coordinates)) {}

void Mapping::node_positions(Index first, Index count, double* x, double* y, double* z) const {
  if (!is_cartesian()) {
    std::copy_n(coordinates_[0].data() + first, count, x);
    std::copy_n(coordinates_[1].data() + first, count, y);
    if (lattice_.dimension() == 3) {
      std::copy_n(coordinates_[2].data() + first, count, z);
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

Index Mapping::bytes() const {
  std::size_t values = 0;
  for (int d = 0; d < 3; ++d) values += lines_[d].size() + coordinates_[d].size();
  return static_cast<Index>(values * sizeof(double));
}

}  // namespace tessera
