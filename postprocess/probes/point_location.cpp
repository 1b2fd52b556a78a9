// This file inverts the map of cells.
#include "postprocess/probes/point_location.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace tessera {
namespace {

constexpr double kRounding = 1e-12;
// Of the length of a cell at degree 1, and with each degree more.
constexpr double kSlack = 0.02;
constexpr double kSlackPerDegree = 0.25;

double largest_difference(const Point& a, const Point& b) {
  double largest = 0.0;
  for (int d = 0; d < 3; ++d) largest = std::max(largest, std::abs(a[d] - b[d]));
  return largest;
}

Point clamped(const Point& x, double low, double high) {
  return {std::clamp(x[0], low, high), std::clamp(x[1], low, high), std::clamp(x[2], low, high)};
}

// Of the cell's longest edge, by the derivatives of its map.
double length_of(const std::array<Point, 3>& J) {
  double largest = 0.0;
  for (int b = 0; b < 3; ++b) largest = std::max(largest, std::hypot(J[0][b], J[1][b], J[2][b]));
  return largest;
}

// Solves J s = r in the first `dimension` coordinates; not finite where J is singular.
Point solve(const std::array<Point, 3>& J, const Point& r, int dimension) {
  if (dimension == 2) {
    const double determinant = J[0][0] * J[1][1] - J[0][1] * J[1][0];
    return {(r[0] * J[1][1] - J[0][1] * r[1]) / determinant,
            (J[0][0] * r[1] - r[0] * J[1][0]) / determinant, 0.0};
  }
  const auto cofactor = [&](int a, int b) {
    const int a1 = (a + 1) % 3, a2 = (a + 2) % 3, b1 = (b + 1) % 3, b2 = (b + 2) % 3;
    return J[a1][b1] * J[a2][b2] - J[a1][b2] * J[a2][b1];
  };
  const double determinant =
      J[0][0] * cofactor(0, 0) + J[0][1] * cofactor(0, 1) + J[0][2] * cofactor(0, 2);
  Point step{};
  for (int b = 0; b < 3; ++b) {
    for (int a = 0; a < 3; ++a) step[b] += cofactor(a, b) * r[a] / determinant;
  }
  return step;
}

}  // namespace

double PointLocator::largest_coordinate(const Discretization& discretization) {
  const NodeLattice& lattice = discretization.lattice;
  const Frame& frame = discretization.frame;
  double largest = 0.0;
  for (int d = 0; d < lattice.dimension(); ++d) {
    const double shift = frame.origin[d] / frame.length;
    if (discretization.mapping.is_cartesian()) {
      const std::vector<double>& line = discretization.mapping.line(d);
      largest = std::max({largest, std::abs(line.front() + shift), std::abs(line.back() + shift)});
      continue;
    }
    const double* const x = discretization.mapping.coordinate(d).data();
    double of_nodes = 0.0;
#pragma omp parallel for schedule(static) reduction(max : of_nodes)
    for (Index i = 0; i < lattice.size(); ++i)
      of_nodes = std::max(of_nodes, std::abs(x[i] + shift));
    largest = std::max(largest, of_nodes);
  }
  return largest;
}

PointLocator::PointLocator(const Discretization& discretization)
    : PointLocator(discretization, largest_coordinate(discretization)) {}

PointLocator::PointLocator(const Discretization& discretization, double largest)
    : discretization_(discretization),
      in_box_(discretization.mesh),
      basis_(discretization.basis.nodes),
      tolerance_(kRounding * largest),
      slack_(kSlack * std::pow(kSlackPerDegree, discretization.lattice.degree() - 1)) {
  if (!discretization.mapping.is_cartesian()) boxes_.emplace(discretization);
}

std::optional<CellPoint> PointLocator::find(const Point& x, Scratch& scratch) const {
  const std::optional<Found> found = locate(x, scratch);
  return found ? std::optional(found->place) : std::nullopt;
}

std::optional<PointLocator::Found> PointLocator::locate(const Point& x, Scratch& scratch) const {
  const Frame& frame = discretization_.frame;
  Point X{};
  for (int d = 0; d < discretization_.mesh.dimension(); ++d) {
    X[d] = (x[d] - frame.origin[d]) / frame.length;
  }
  if (!boxes_) return find_in_box(X);
  boxes_->find(X, scratch);
  constexpr Point kMiddle = {0.5, 0.5, 0.5};
  auto place = find_in_cells(scratch, X, [&](Index) { return kMiddle; });
  if (!place) {
    // A strongly curved cell may need a nearer start.
    place = find_in_cells(scratch, X, [&](Index cell) { return nearest_node(cell, X); });
  }
  return place;
}

std::optional<PointLocator::Found> PointLocator::find_in_box(const Point& X) const {
  const BoxMesh& mesh = discretization_.mesh;
  for (int d = 0; d < mesh.dimension(); ++d) {
    if (!(X[d] >= mesh.lower()[d] - tolerance_ && X[d] <= mesh.upper()[d] + tolerance_)) {
      return std::nullopt;
    }
  }
  return Found{in_box_(X), 0.0};
}

template <class StartIn>
std::optional<PointLocator::Found> PointLocator::find_in_cells(const std::vector<Index>& cells,
                                                               const Point& X,
                                                               StartIn start_in) const {
  std::optional<Found> nearest;
  double least = slack_;
  for (const Index cell : cells) {
    const Inverse found = invert(cell, X, start_in(cell));
    if (!(found.distance <= tolerance_)) continue;
    const Point inside = clamped(found.reference, 0.0, 1.0);
    std::array<Point, 3> J{};
    const double beyond = largest_difference(map(cell, inside, J), X);
    const CellPoint place{discretization_.mesh.cell_position(cell), inside};
    if (beyond <= tolerance_) return Found{place, 0.0};
    if (beyond > least * length_of(J)) continue;
    least = beyond / length_of(J);
    nearest = {place, least};
  }
  return nearest;
}

PointLocator::Inverse PointLocator::invert(Index cell, const Point& X, Point reference) const {
  constexpr int kMaxSteps = 30;
  constexpr int kMaxHalvings = 6;
  // Beyond the cell its polynomials are of no use.
  constexpr double kOvershoot = 0.2;
  // A step after which the next one is below rounding.
  constexpr double kLastStep = 1e-9;
  const int dimension = discretization_.mesh.dimension();
  if (dimension == 2) reference[2] = 0.0;
  std::array<Point, 3> J{};
  Point at = map(cell, reference, J);
  int outside = 0;
  for (int i = 0; i < kMaxSteps; ++i) {
    const Point step = solve(J, {X[0] - at[0], X[1] - at[1], X[2] - at[2]}, dimension);
    const double before = largest_difference(at, X);
    const Point start = reference;
    double length = 0.0;
    double scale = 1.0;
    for (int halving = 0; halving <= kMaxHalvings; ++halving, scale *= 0.5) {
      length = 0.0;
      for (int d = 0; d < dimension; ++d) {
        if (!std::isfinite(step[d])) return {start, before};
        reference[d] = std::clamp(start[d] + scale * step[d], -kOvershoot, 1.0 + kOvershoot);
        length = std::max(length, std::abs(reference[d] - start[d]));
      }
      at = map(cell, reference, J);
      if (length <= kLastStep || largest_difference(at, X) <= before) break;
    }
    if (length <= kLastStep) break;
    // At the same side all the time: X is in another cell.
    const bool is_inside = std::all_of(reference.begin(), reference.end(), [](double t) {
      return t > -kOvershoot && t < 1.0 + kOvershoot;
    });
    outside = is_inside ? 0 : outside + 1;
    if (outside == 3) break;
  }
  return {reference, largest_difference(at, X)};
}

Point PointLocator::map(Index cell, const Point& reference,
                        std::array<Point, 3>& derivatives) const {
  std::array<LineValues, 3> l;
  std::array<LineValues, 3> slopes;
  const NodeLattice& lattice = discretization_.lattice;
  const Index first = lattice.first_node(discretization_.mesh.cell_position(cell));
  const int n = basis_.size();
  l[2][0] = 1.0;
  slopes[2][0] = 0.0;
  for (int d = 0; d < lattice.dimension(); ++d) basis_.values(reference[d], l[d], slopes[d]);
  Point at{};
  for (int d = 0; d < lattice.dimension(); ++d) {
    const double* const x = discretization_.mapping.coordinate(d).data() + first;
    derivatives[d] = {};
    for (int k = 0; k < (lattice.dimension() == 3 ? n : 1); ++k) {
      for (int j = 0; j < n; ++j) {
        const double* const row = x + lattice.offset(0, j, k);
        double sum = 0.0;
        double slope = 0.0;
        for (int i = 0; i < n; ++i) {
          sum += l[0][i] * row[i];
          slope += slopes[0][i] * row[i];
        }
        at[d] += l[2][k] * l[1][j] * sum;
        derivatives[d][0] += l[2][k] * l[1][j] * slope;
        derivatives[d][1] += l[2][k] * slopes[1][j] * sum;
        derivatives[d][2] += slopes[2][k] * l[1][j] * sum;
      }
    }
  }
  return at;
}

Point PointLocator::nearest_node(Index cell, const Point& X) const {
  const NodeLattice& lattice = discretization_.lattice;
  const Index first = lattice.first_node(discretization_.mesh.cell_position(cell));
  const int n = basis_.size();
  const std::vector<double>& nodes = basis_.nodes();
  Point nearest{};
  double least = std::numeric_limits<double>::infinity();
  for (int k = 0; k < (lattice.dimension() == 3 ? n : 1); ++k) {
    for (int j = 0; j < n; ++j) {
      for (int i = 0; i < n; ++i) {
        double square = 0.0;
        for (int d = 0; d < lattice.dimension(); ++d) {
          const double difference =
              discretization_.mapping.coordinate(d)[first + lattice.offset(i, j, k)] - X[d];
          square += difference * difference;
        }
        if (!(square < least)) continue;
        least = square;
        nearest = {nodes[i], nodes[j], lattice.dimension() == 3 ? nodes[k] : 0.0};
      }
    }
  }
  return nearest;
}

}  // namespace tessera
