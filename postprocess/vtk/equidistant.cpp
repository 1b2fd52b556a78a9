// This file interpolates along segments of lattice lines.
#include "postprocess/vtk/equidistant.hpp"

#include <algorithm>
#include <cmath>

#include "mesh/element/basis_1d.hpp"
#include "mesh/partition.hpp"

namespace tessera {
namespace {

constexpr Index kBlock = 256;  // values side by side, so that a block of p + 1 rows stays in L1

bool are_equidistant(const std::vector<double>& nodes, const std::vector<double>& equidistant) {
  constexpr double kTolerance = 1e-15;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (std::abs(nodes[i] - equidistant[i]) > kTolerance) return false;
  }
  return true;
}

// rows[b * stride + f], b = 0 .. p: rows 1 .. p - 1 become the values at equidistant positions.
void interpolate_rows(const Matrix1D& matrix, double* rows, Index stride, Index count,
                      double* buffer) {
  const int p = matrix.rows - 1;
  for (int a = 1; a < p; ++a) {
    double* sum = buffer + (a - 1) * count;
    std::fill_n(sum, count, 0.0);
    for (int b = 0; b <= p; ++b) {
      const double weight = matrix(a, b);
      const double* row = rows + b * stride;
      for (Index f = 0; f < count; ++f) sum[f] += weight * row[f];
    }
  }
  for (int a = 1; a < p; ++a) std::copy_n(buffer + (a - 1) * count, count, rows + a * stride);
}

// A segment is one cell's stretch of a lattice line; segments share vertices only, which stay.
void interpolate_axis(const NodeLattice& lattice, const Matrix1D& matrix, int axis,
                      double* values) {
  const int p = lattice.degree();
  const Index stride = lattice.stride(axis);
  const Index next = lattice.nodes().strides[axis + 1];
  const Index segments = (lattice.extents()[axis] - 1) / p;
  const Index blocks = ceil_div(stride, kBlock);
  parallel_ranges(lattice.size() / next * segments * blocks, [&](Range range) {
    std::vector<double> buffer(static_cast<std::size_t>((p - 1) * kBlock));
    for (Index item = range.begin; item < range.end; ++item) {
      const Index first = item % blocks * kBlock;
      const Index segment = item / blocks % segments;
      const Index row = item / (blocks * segments) * next + segment * p * stride;
      interpolate_rows(matrix, values + row + first, stride, std::min(kBlock, stride - first),
                       buffer.data());
    }
  });
}

}  // namespace

void to_equidistant(const NodeLattice& lattice, const std::vector<double>& nodes,
                    std::span<const double> values, std::span<double> out) {
  if (values.data() != out.data()) {
    parallel_ranges(lattice.size(), [&](Range range) {
      std::copy_n(values.data() + range.begin, range.size(), out.data() + range.begin);
    });
  }
  const std::vector<double> equidistant = make_nodes(NodeFamily::equidistant, lattice.degree());
  if (are_equidistant(nodes, equidistant)) return;
  const Matrix1D matrix = lagrange_values(nodes, equidistant);
  for (int d = 0; d < lattice.dimension(); ++d) interpolate_axis(lattice, matrix, d, out.data());
}

EquidistantPositions::EquidistantPositions(const BoxMesh& mesh, const Mapping& mapping,
                                           const std::vector<double>& nodes) {
  const NodeLattice& lattice = mapping.lattice();
  if (mapping.is_cartesian()) {
    cartesian_.emplace(mesh, lattice, make_nodes(NodeFamily::equidistant, lattice.degree()));
    return;
  }
  for (int d = 0; d < lattice.dimension(); ++d) {
    coordinates_[d].resize(static_cast<std::size_t>(lattice.size()));
    to_equidistant(lattice, nodes, mapping.coordinate(d), coordinates_[d]);
  }
}

void EquidistantPositions::node_positions(Index first, Index count, double* x, double* y,
                                          double* z) const {
  if (cartesian_) {
    cartesian_->node_positions(first, count, x, y, z);
    return;
  }
  double* const out[3] = {x, y, z};
  for (int d = 0; d < 3; ++d) {
    if (coordinates_[d].empty()) {
      std::fill_n(out[d], count, 0.0);
    } else {
      std::copy_n(coordinates_[d].data() + first, count, out[d]);
    }
  }
}

}  // namespace tessera
