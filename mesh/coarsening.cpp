// This file plans levels by the widths of cells, and merges cells two by two.
#include "mesh/coarsening.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "mesh/element/axis_matrix.hpp"

namespace tessera {
namespace {

// The ratio of a cell's edges above which a point smoother needs semi-coarsening, and the ratio up
// to which an axis is halved together with the shortest one.
constexpr double kAnisotropic = 2.5;
constexpr double kAlike = 1.5;
// A width counts as larger than another one only if it exceeds it by this factor, so that 4 x 6
// cells of a square are treated alike in all units.
constexpr double kRounding = 1.0 + 1e-9;
constexpr Index kSampledCells = 8;
// Half of an odd number of cells are not alike, so that their grid lines are stored. So many lines
// are none that a case can have whose memory is to be foreseen.
constexpr Index kMostCellsToStore = Index{1} << 26;

// position_of(position of a mesh vertex) returns its point.
template <class PositionOf>
Point mean_widths(const BoxMesh& mesh, PositionOf&& position_of) {
  // Lengths are taken relative to the first sample, so that a change of units by a power of 2
  // changes no digit.
  Point first{};
  Point logarithms{};
  Index samples = 0;
  IndexTriple step{1, 1, 1};
  for (int d = 0; d < mesh.dimension(); ++d) step[d] = ceil_div(mesh.cells()[d], kSampledCells);
  for (Index k = 0; k < mesh.cells()[2]; k += step[2]) {
    for (Index j = 0; j < mesh.cells()[1]; j += step[1]) {
      for (Index i = 0; i < mesh.cells()[0]; i += step[0]) {
        const Point corner = position_of(IndexTriple{i, j, k});
        for (int d = 0; d < mesh.dimension(); ++d) {
          IndexTriple next{i, j, k};
          ++next[d];
          const Point end = position_of(next);
          const double length =
              std::max(std::hypot(end[0] - corner[0], end[1] - corner[1], end[2] - corner[2]),
                       std::numeric_limits<double>::min());
          if (samples == 0) first[d] = length;
          logarithms[d] += std::log(length / first[d]);
        }
        ++samples;
      }
    }
  }
  Point widths{};
  for (int d = 0; d < mesh.dimension(); ++d) {
    widths[d] = first[d] * std::exp(logarithms[d] / static_cast<double>(samples));
  }
  return widths;
}

Point box_point(const BoxMesh& mesh, const IndexTriple& corner) {
  Point point{};
  for (int d = 0; d < mesh.dimension(); ++d) point[d] = mesh.grid_line(d, corner[d]);
  return point;
}

// Plans one level after the other, and keeps track of the widths of cells.
class Planner {
 public:
  Planner(const LevelShape& finest, int dimension, const Point& widths,
          const CoarseningRules& rules)
      : shape_(finest), dimension_(dimension), widths_(widths), rules_(rules) {}

  const LevelShape& shape() const { return shape_; }

  // Goes to the next coarser level; returns false if there is none.
  bool advance() {
    const bool halves_degree_first = rules_.order == CoarseningOrder::degree_first ||
                                     node_count(shape_, dimension_) <= rules_.degree_first_below;
    if (halves_degree_first && !is_anisotropic()) {
      return halve_degree() || halve_cells();
    }
    return halve_cells() || halve_degree();
  }

 private:
  double min_width() const {
    double least = std::numeric_limits<double>::infinity();
    for (int d = 0; d < dimension_; ++d) {
      if (shape_.cells[d] > 1) least = std::min(least, widths_[d]);
    }
    return least;
  }
  bool is_anisotropic() const {
    for (int d = 0; d < dimension_; ++d) {
      if (shape_.cells[d] > 1 && widths_[d] > kRounding * kAnisotropic * min_width()) return true;
    }
    return false;
  }
  bool halve_degree() {
    if (shape_.degree == 1) return false;
    shape_.degree /= 2;
    return true;
  }
  bool halve_cells() {
    const double limit = kRounding * kAlike * min_width();
    bool changed = false;
    for (int d = 0; d < dimension_; ++d) {
      if (shape_.cells[d] == 1 || widths_[d] > limit) continue;
      if (shape_.cells[d] % 2 == 1 && shape_.cells[d] > kMostCellsToStore) continue;
      shape_.cells[d] = ceil_div(shape_.cells[d], 2);
      widths_[d] *= 2.0;
      changed = true;
    }
    return changed;
  }

  LevelShape shape_;
  int dimension_;
  Point widths_;
  const CoarseningRules& rules_;
};

// The matrices that evaluate functions of the finer space at the nodes of the coarser one.
std::array<AxisMatrix, 3> matrices_at_nodes(const Discretization& fine, const BoxMesh& mesh,
                                            const std::vector<double>& nodes) {
  std::array<AxisMatrix, 3> at_nodes;
  for (int d = 0; d < mesh.dimension(); ++d) {
    at_nodes[d] = evaluation_matrix({fine.mesh, d, fine.basis.nodes}, {mesh, d, nodes});
  }
  return at_nodes;
}

}  // namespace

BoxMesh merge_cells(const BoxMesh& fine, const IndexTriple& cells) {
  PlaceInWhole place = fine.place();
  IndexTriple counts = fine.cells();
  std::array<GridLines, 3> lines;
  for (int d = 0; d < fine.dimension(); ++d) {
    const Index n = fine.cells()[d];
    const Index whole = fine.place().cells[d];
    const bool kept = cells[d] == whole;
    if (!kept && cells[d] != ceil_div(whole, 2)) {
      throw std::invalid_argument("cells of a coarser mesh are neither kept nor halved");
    }
    if (!kept) {
      const Index first = fine.place().first_cell[d];
      if (first % 2 != 0 || (n % 2 != 0 && first + n != whole)) {
        throw std::invalid_argument("a part of a mesh cuts cells of the coarser mesh");
      }
      place.first_cell[d] = first / 2;
      place.cells[d] = cells[d];
      counts[d] = ceil_div(n, 2);
    }
    if (fine.is_uniform(d) && (kept || whole % 2 == 0)) continue;
    for (Index c = 0; c <= counts[d]; ++c) {
      lines[d].push_back(fine.grid_line(d, kept ? c : std::min(2 * c, n)));
    }
  }
  return {fine.dimension(), counts, place, std::move(lines)};
}

Index node_count(const LevelShape& shape, int dimension) {
  Index count = 1;
  for (int d = 0; d < dimension; ++d) count *= nodes_along(shape.cells[d], shape.degree);
  return count;
}

Point mean_cell_widths(const BoxMesh& mesh) {
  return mean_widths(mesh, [&](const IndexTriple& corner) { return box_point(mesh, corner); });
}

Point mean_cell_widths(const Discretization& discretization) {
  const NodeLattice& lattice = discretization.lattice;
  return mean_widths(discretization.mesh, [&](const IndexTriple& corner) {
    Point x{};
    discretization.mapping.node_positions(lattice.vertex_node(corner), 1, x.data(), &x[1], &x[2]);
    return x;
  });
}

Point mean_cell_widths(const BoxMesh& mesh, const std::array<ScalarField, 3>& components) {
  return mean_widths(mesh, [&](const IndexTriple& corner) {
    const Point at = box_point(mesh, corner);
    Point point{};
    for (int d = 0; d < mesh.dimension(); ++d) {
      components[d].evaluate({1, at.data(), at.data() + 1, at.data() + 2}, point.data() + d);
    }
    return point;
  });
}

Point mean_cell_widths(const BoxMesh& mesh,
                       const std::function<Point(const IndexTriple&)>& position_of) {
  return mean_widths(mesh, position_of);
}

std::vector<LevelShape> plan_levels(const LevelShape& finest, int dimension, const Point& widths,
                                    const CoarseningRules& rules) {
  std::vector<LevelShape> levels{finest};
  Planner planner(finest, dimension, widths, rules);
  while (node_count(levels.back(), dimension) > rules.small_enough &&
         static_cast<int>(levels.size()) < rules.max_levels && planner.advance()) {
    levels.push_back(planner.shape());
  }
  return levels;
}

Discretization coarsen(const Discretization& fine, const LevelShape& shape) {
  BoxMesh mesh = merge_cells(fine.mesh, shape.cells);
  const int excess = fine.basis.point_count() - fine.basis.node_count();
  Basis1D basis =
      make_basis(shape.degree, fine.basis.family, fine.basis.rule, shape.degree + 1 + excess);
  const NodeLattice lattice(mesh, shape.degree);
  if (fine.mapping.is_cartesian()) {
    Mapping mapping(mesh, lattice, basis.nodes);
    return {std::move(mesh), std::move(basis), lattice, std::move(mapping), fine.frame};
  }
  Mapping mapping(
      mesh, lattice, basis.nodes,
      fine.mapping.positions()->interpolated(matrices_at_nodes(fine, mesh, basis.nodes), lattice));
  return {std::move(mesh), std::move(basis), lattice, std::move(mapping), fine.frame};
}

std::array<AxisMatrix, 3> coarsening_matrices(const Discretization& fine,
                                              const Discretization& coarse) {
  return matrices_at_nodes(fine, coarse.mesh, coarse.basis.nodes);
}

HostArray<double> coarsen(const Discretization& fine, const double* values,
                          const Discretization& coarse) {
  return multiply_along_all(coarsening_matrices(fine, coarse), fine.lattice.extents(),
                            coarse.lattice.extents(), values);
}

}  // namespace tessera
