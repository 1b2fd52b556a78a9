// This file chooses planes across a mesh, and interpolates the map at their crossings axis by axis.
#include "postprocess/picture/sampled_map.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "mesh/partition.hpp"

namespace tessera {
namespace {

// Planes across an axis. In a cell they are at nodes, where the map need not be interpolated, or
// at equal distances where there are more of them than nodes.
std::vector<double> choose_planes(const BoxMesh& mesh, int d, const std::vector<double>& nodes,
                                  int intervals) {
  const int p = static_cast<int>(nodes.size()) - 1;
  const double spacing = (mesh.upper()[d] - mesh.lower()[d]) / intervals;
  std::vector<double> planes = {mesh.lower()[d]};
  for (Index c = 0; c < mesh.cells()[d]; ++c) {
    const double begin = mesh.grid_line(d, c);
    const double end = mesh.grid_line(d, c + 1);
    const int pieces = std::max(1, static_cast<int>(std::lround((end - begin) / spacing)));
    if (pieces > 1 && begin > planes.back()) planes.push_back(begin);
    for (int i = 1; i < pieces; ++i) {
      const double xi =
          pieces < p ? nodes[(i * p + pieces / 2) / pieces] : static_cast<double>(i) / pieces;
      planes.push_back(begin + xi * (end - begin));
    }
    if (pieces > 1 || end - planes.back() > 0.75 * spacing) planes.push_back(end);
  }
  if (planes.back() < mesh.upper()[d]) {
    // The last interval may be a short one.
    planes.push_back(mesh.upper()[d]);
  }
  return planes;
}

// What the value on a plane is made of: the values on some node planes, by their place among those
// that are needed at all.
struct Combination {
  int first = 0;
  std::vector<double> factors;
};

struct AxisSampling {
  std::vector<Index> nodes;  // needed ones along the axis
  std::vector<Combination> planes;
};

AxisSampling sample_axis(const Discretization& discretization, const LineBasis& basis, int d,
                         const std::vector<double>& planes) {
  if (d >= discretization.mesh.dimension()) return {{0}, {{0, {1.0}}}};
  AxisSampling sampling;
  std::vector<Index>& nodes = sampling.nodes;
  const int p = discretization.lattice.degree();
  const CellLocator locate(discretization.mesh);
  LineValues values;
  std::vector<Index> first_nodes;
  for (const double plane : planes) {
    CellPoint point;
    locate.find(d, plane, point);
    double& xi = point.xi[d];
    // Rounding must not turn a node into an interpolation.
    for (const double node : discretization.basis.nodes) {
      if (std::abs(xi - node) < 1e-9) xi = node;
    }
    const auto [first, last] = basis.values(xi, values);
    first_nodes.push_back(p * point.cell[d] + first);
    for (int i = first; i <= last; ++i) nodes.push_back(p * point.cell[d] + i);
    sampling.planes.push_back({0, {values.data() + first, values.data() + last + 1}});
  }
  std::sort(nodes.begin(), nodes.end());
  nodes.erase(std::unique(nodes.begin(), nodes.end()), nodes.end());
  for (std::size_t i = 0; i < planes.size(); ++i) {
    const auto found = std::lower_bound(nodes.begin(), nodes.end(), first_nodes[i]);
    sampling.planes[i].first = static_cast<int>(found - nodes.begin());
  }
  return sampling;
}

double combine(const Combination& combination, const double* values, std::size_t stride) {
  double sum = 0.0;
  for (std::size_t i = 0; i < combination.factors.size(); ++i) {
    sum += combination.factors[i] * values[(combination.first + i) * stride];
  }
  return sum;
}

}  // namespace

SampledMap::SampledMap(const Discretization& discretization, const LineBasis& basis, int intervals)
    : dimension_(discretization.mesh.dimension()),
      is_cartesian_(discretization.mapping.is_cartesian()) {
  const BoxMesh& mesh = discretization.mesh;
  for (int d = 0; d < 3; ++d) {
    if (d >= dimension_) {
      planes_[d] = {0.0};
    } else if (is_cartesian_) {
      planes_[d] = {mesh.lower()[d], mesh.upper()[d]};
    } else {
      planes_[d] = choose_planes(mesh, d, discretization.basis.nodes, intervals);
    }
  }
  positions_.resize(planes_[0].size() * planes_[1].size() * planes_[2].size());
  if (is_cartesian_) {
    fill_cartesian();
  } else {
    fill_mapped(discretization, basis);
  }
  for (Point& x : positions_) x = discretization.frame.physical(x);
  find_bounds();
}

void SampledMap::fill_cartesian() {
  std::size_t next = 0;
  for (int k = 0; k < count(2); ++k) {
    for (int j = 0; j < count(1); ++j) {
      for (int i = 0; i < count(0); ++i) positions_[next++] = box(i, j, k);
    }
  }
}

void SampledMap::fill_mapped(const Discretization& discretization, const LineBasis& basis) {
  std::array<AxisSampling, 3> axes;
  for (int d = 0; d < 3; ++d) axes[d] = sample_axis(discretization, basis, d, planes_[d]);
  const auto nx = planes_[0].size();
  const auto ny = planes_[1].size();
  const auto rows = axes[1].nodes.size();
  const NodeLattice& lattice = discretization.lattice;
  // x and y at the nodes along z that are needed, then z.
  std::vector<double> layers(axes[2].nodes.size() * ny * nx);
  for (int component = 0; component < dimension_; ++component) {
    const double* coordinates = discretization.mapping.coordinate(component).data();
    parallel_ranges(static_cast<Index>(axes[2].nodes.size()), [&](Range range) {
      std::vector<double> lines(rows * nx);
      std::vector<double> line(axes[0].nodes.size());
      for (Index layer = range.begin; layer < range.end; ++layer) {
        for (std::size_t row = 0; row < rows; ++row) {
          const double* values =
              coordinates + lattice.node_index({0, axes[1].nodes[row], axes[2].nodes[layer]});
          for (std::size_t i = 0; i < line.size(); ++i) line[i] = values[axes[0].nodes[i]];
          for (std::size_t i = 0; i < nx; ++i) {
            lines[row * nx + i] = combine(axes[0].planes[i], line.data(), 1);
          }
        }
        double* out = layers.data() + layer * static_cast<Index>(ny * nx);
        for (std::size_t j = 0; j < ny; ++j) {
          for (std::size_t i = 0; i < nx; ++i) {
            out[j * nx + i] = combine(axes[1].planes[j], lines.data() + i, nx);
          }
        }
      }
    });
    parallel_ranges(count(2), [&](Range range) {
      for (Index k = range.begin; k < range.end; ++k) {
        for (std::size_t i = 0; i < ny * nx; ++i) {
          positions_[k * static_cast<Index>(ny * nx) + static_cast<Index>(i)][component] =
              combine(axes[2].planes[k], layers.data() + i, ny * nx);
        }
      }
    });
  }
}

void SampledMap::find_bounds() {
  lower_.fill(std::numeric_limits<double>::infinity());
  upper_.fill(-std::numeric_limits<double>::infinity());
  for (const Point& x : positions_) {
    for (int d = 0; d < 3; ++d) {
      lower_[d] = std::min(lower_[d], x[d]);
      upper_[d] = std::max(upper_[d], x[d]);
    }
  }
}

}  // namespace tessera
