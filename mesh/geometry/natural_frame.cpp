// This file chooses natural frames, and checks that positions have enough digits.
#include "mesh/geometry/natural_frame.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <mutex>
#include <utility>

#include "mesh/errors.hpp"
#include "mesh/partition.hpp"

namespace tessera {
namespace {

// A box that is further from 0 than this many times its extent is moved to 0. The number must be at
// least 1, because no difference of two positions is rounded then.
constexpr double kFar = 8.0;
// An edge of a cell must be at least this share of the coordinates whose difference it is.
constexpr double kMinEdge = 1e-10;

Intervals box_intervals(const BoxMesh& mesh) {
  Intervals intervals{};
  const PlaceInWhole& place = mesh.place();
  for (int d = 0; d < mesh.dimension(); ++d) intervals[d] = {place.lower[d], place.upper[d]};
  return intervals;
}

BoxMesh moved(const BoxMesh& mesh, const Frame& frame) {
  if (frame.is_physical()) return mesh;
  PlaceInWhole place = mesh.place();
  std::array<GridLines, 3> lines;
  for (int d = 0; d < mesh.dimension(); ++d) {
    const auto move = [&](double x) { return (x - frame.origin[d]) / frame.length; };
    place.lower[d] = move(place.lower[d]);
    place.upper[d] = move(place.upper[d]);
    if (mesh.is_uniform(d)) continue;
    for (Index i = 0; i <= mesh.cells()[d]; ++i) lines[d].push_back(move(mesh.grid_line(d, i)));
  }
  return {mesh.dimension(), mesh.cells(), place, std::move(lines)};
}

Discretization cartesian(Discretization&& old, BoxMesh mesh, const Frame& frame) {
  Mapping mapping(mesh, old.lattice, old.basis.nodes);
  return {std::move(mesh), std::move(old.basis), old.lattice, std::move(mapping), frame};
}

Discretization mapped(BoxMesh mesh, Basis1D basis, const Frame& frame,
                      std::shared_ptr<NodePositions> positions) {
  const NodeLattice lattice = positions->lattice();
  Mapping mapping(mesh, lattice, basis.nodes, std::move(positions));
  return {std::move(mesh), std::move(basis), lattice, std::move(mapping), frame};
}

// The coordinates of a mapped discretization, each moved by move(x, origin, length).
template <class Move>
std::shared_ptr<NodePositions> moved_positions(Discretization& discretization, const Frame& frame,
                                               Move&& move) {
  std::array<HostArray<double>, 3> coordinates =
      std::move(discretization.mapping).take_coordinates();
  for (int d = 0; d < discretization.mesh.dimension() && !frame.is_physical(); ++d) {
    HostArray<double>& x = coordinates[d];
    const double origin = frame.origin[d];
    const double length = frame.length;
#pragma omp parallel for simd schedule(static)
    for (Index i = 0; i < discretization.lattice.size(); ++i) x[i] = move(x[i], origin, length);
  }
  return std::make_shared<NodePositions>(discretization.lattice, std::move(coordinates));
}

// The longest of a cell's edges along its axis d.
double longest_edge(const Discretization& discretization, const IndexTriple& cell, int d) {
  const NodeLattice& lattice = discretization.lattice;
  const int corners = 1 << discretization.mesh.dimension();
  double longest = 0.0;
  for (int corner = 0; corner < corners; ++corner) {
    if ((corner >> d & 1) != 0) continue;
    const Index begin = lattice.corner_node(cell, corner);
    const Index end = lattice.corner_node(cell, corner | 1 << d);
    Point edge{};
    for (int a = 0; a < discretization.mesh.dimension(); ++a) {
      const HostArray<double>& x = discretization.mapping.coordinate(a);
      edge[a] = x[end] - x[begin];
    }
    longest = std::max(longest, std::hypot(edge[0], edge[1], edge[2]));
  }
  return longest;
}

}  // namespace

Frame natural_frame(const Intervals& intervals, int dimension) {
  Frame frame;
  double logarithms = 0.0;
  for (int d = 0; d < dimension; ++d) {
    const Interval& x = intervals[d];
    // A quarter of the extent is used, because the whole may overflow.
    const double quarter = 0.25 * x.high - 0.25 * x.low;
    if (!(quarter > 0.0) || !std::isfinite(quarter)) return {};
    logarithms += std::log2(quarter) + 2.0;
    const double nearest = x.low > 0.0 ? x.low : -x.high;
    if (0.25 * nearest > kFar * quarter) frame.origin[d] = x.low;
  }
  frame.length = std::exp2(2.0 * std::round(0.5 * logarithms / dimension));
  return frame;
}

Intervals node_intervals(const Discretization& physical) {
  if (physical.mapping.is_cartesian()) return box_intervals(physical.mesh);
  Intervals intervals{};
  for (int d = 0; d < physical.mesh.dimension(); ++d) {
    const HostArray<double>& x = physical.mapping.coordinate(d);
    double low = x[0];
    double high = x[0];
#pragma omp parallel for schedule(static) reduction(min : low) reduction(max : high)
    for (Index i = 0; i < physical.lattice.size(); ++i) {
      low = std::min(low, x[i]);
      high = std::max(high, x[i]);
    }
    intervals[d] = {low, high};
  }
  return intervals;
}

Frame natural_frame(const Discretization& physical) {
  return natural_frame(node_intervals(physical), physical.mesh.dimension());
}

Discretization to_frame(Discretization physical, const Frame& frame) {
  if (physical.mapping.is_cartesian()) {
    if (frame.is_physical()) return physical;
    BoxMesh mesh = moved(physical.mesh, frame);
    return cartesian(std::move(physical), std::move(mesh), frame);
  }
  auto positions = moved_positions(physical, frame, [](double x, double origin, double length) {
    return (x - origin) / length;
  });
  return mapped_in_frame(physical.mesh, std::move(physical.basis), frame, std::move(positions));
}

Discretization mapped_in_frame(const BoxMesh& physical, Basis1D basis, const Frame& frame,
                               std::shared_ptr<NodePositions> positions) {
  const Frame of_box = natural_frame(box_intervals(physical), physical.dimension());
  return mapped(moved(physical, of_box), std::move(basis), frame, std::move(positions));
}

BoxMesh mesh_in_frame(const BoxMesh& physical, const Discretization& framed) {
  if (framed.mapping.is_cartesian()) return moved(physical, framed.frame);
  return moved(physical, natural_frame(box_intervals(physical), physical.dimension()));
}

Discretization to_physical(Discretization framed, const BoxMesh& mesh) {
  if (framed.mapping.is_cartesian()) return cartesian(std::move(framed), mesh, {});
  auto positions =
      moved_positions(framed, framed.frame,
                      [](double X, double origin, double length) { return origin + length * X; });
  return mapped(mesh, std::move(framed.basis), {}, std::move(positions));
}

double min_edge(const Intervals& intervals, int dimension) {
  double largest = 0.0;
  for (int d = 0; d < dimension; ++d) {
    largest = std::max({largest, std::abs(intervals[d].low), std::abs(intervals[d].high)});
  }
  return kMinEdge * largest;
}

void check_digits(const Discretization& physical) {
  if (!physical.mapping.is_cartesian()) check_digits(physical, node_intervals(physical));
}

void check_digits(const Discretization& physical, const Intervals& intervals) {
  if (physical.mapping.is_cartesian()) return;
  const BoxMesh& mesh = physical.mesh;
  const double least = min_edge(intervals, mesh.dimension());
  // The first cell with too short an edge.
  Index first = std::numeric_limits<Index>::max();
  std::mutex mutex;
  parallel_ranges(mesh.cell_count(), [&](Range range) {
    for (Index c = range.begin; c < range.end; ++c) {
      for (int d = 0; d < mesh.dimension(); ++d) {
        const double edge = longest_edge(physical, mesh.cell_position(c), d);
        // An edge of length 0 comes of a map that folds over, which check_geometry() reports.
        if (edge == 0.0 || edge >= least) continue;
        const std::lock_guard lock(mutex);
        first = std::min(first, c);
        return;
      }
    }
  });
  if (first == std::numeric_limits<Index>::max()) return;
  double edge = std::numeric_limits<double>::infinity();
  for (int d = 0; d < mesh.dimension(); ++d) {
    edge = std::min(edge, longest_edge(physical, mesh.cell_position(first), d));
  }
  throw LostDigits(mesh.position_in_whole(mesh.cell_position(first)), mesh.dimension(), edge, least,
                   least / kMinEdge);
}

}  // namespace tessera
