// This file finds points once, and evaluates functions there.
#include "postprocess/probes/probes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <limits>

#include "mesh/partition.hpp"
#include "operators/form/on_all_ranks.hpp"
#include "postprocess/probes/point_location.hpp"
#include "solvers/interruption.hpp"

namespace tessera {
namespace {

constexpr Index kBlock = 512;

constexpr double kNowhere = std::numeric_limits<double>::infinity();
// How many points' values ranks gather at a time.
constexpr Index kGathered = 65536;

struct Bounds {
  std::array<double, 3> low{};
  std::array<double, 3> high{};
};

// The box around the nodes, of all ranks' parts, in physical coordinates.
Bounds bounds_of(const Communicator& ranks, const Discretization& discretization) {
  const NodeLattice& lattice = discretization.lattice;
  const Frame& frame = discretization.frame;
  Bounds bounds;
  for (int d = 0; d < lattice.dimension(); ++d) {
    const auto extend = [&](std::span<const double> values) {
      const auto [least, largest] = std::minmax_element(values.begin(), values.end());
      bounds.low[d] = frame.origin[d] + frame.length * *least;
      bounds.high[d] = frame.origin[d] + frame.length * *largest;
    };
    if (discretization.mapping.is_cartesian()) {
      extend(discretization.mapping.line(d));
    } else {
      const auto& x = discretization.mapping.coordinate(d);
      extend({x.data(), static_cast<std::size_t>(lattice.size())});
    }
  }
  ranks.min(bounds.low);
  ranks.max(bounds.high);
  return bounds;
}

// "x from 0 to 1, y from 0 to 2".
std::string bounds_text(const Bounds& bounds, int dimension) {
  std::string text;
  for (int d = 0; d < dimension; ++d) {
    fmt::format_to(std::back_inserter(text), "{}{} from {:.6g} to {:.6g}", d == 0 ? "" : ", ",
                   "xyz"[d], bounds.low[d], bounds.high[d]);
  }
  return text;
}

std::string reason_text(const Communicator& ranks, const Discretization& discretization) {
  const std::string bounds =
      bounds_text(bounds_of(ranks, discretization), discretization.lattice.dimension());
  return discretization.mapping.is_cartesian()
             ? fmt::format("is outside the domain, which has {}", bounds)
             : fmt::format("is outside the mesh, whose curved cells of degree {} lie in the box {}",
                           discretization.lattice.degree(), bounds);
}

}  // namespace

// The distance of each point from its place, as PointLocator has it.
std::vector<double> Probes::find(const Discretization& discretization,
                                 std::span<const Point> points, double largest_coordinate) {
  const PointLocator locator(discretization, largest_coordinate);
  std::vector<double> beyond(points.size(), kNowhere);
  parallel_ranges(size(), [&](Range range) {
    PointLocator::Scratch scratch;
    for (Index i = range.begin; i < range.end; ++i) {
      if (i % kBlock == 0) stop_if_requested();
      if (const auto found = locator.locate(points[i], scratch)) {
        places_[i] = {lattice_.first_node(found->place.cell), found->place.xi};
        beyond[i] = found->beyond;
      }
    }
  });
  return beyond;
}

template <class Use>
void Probes::for_each_gathered(std::span<const double> mine, Use&& use) const {
  const auto ranks = static_cast<std::size_t>(ranks_->size());
  std::vector<double> all;
  std::vector<double> of_point(ranks);
  for (Index first = 0; first < size(); first += kGathered) {
    const auto count = static_cast<std::size_t>(std::min(kGathered, size() - first));
    all.resize(ranks * count);
    ranks_->all_gather(std::as_bytes(mine.subspan(static_cast<std::size_t>(first), count)),
                       std::as_writable_bytes(std::span(all)));
    for (std::size_t i = 0; i < count; ++i) {
      for (std::size_t rank = 0; rank < ranks; ++rank) of_point[rank] = all[rank * count + i];
      use(first + static_cast<Index>(i), std::span<const double>(of_point));
    }
  }
}

Probes::Probes(const Discretization& discretization, std::span<const Point> points,
               const Communicator& ranks)
    : ranks_(&ranks),
      lattice_(discretization.lattice),
      basis_(discretization.basis.nodes),
      places_(points.size()) {
  double largest = PointLocator::largest_coordinate(discretization);
  ranks.max(std::span(&largest, 1));
  const std::vector<double> beyond =
      on_all_ranks(ranks, [&] { return find(discretization, points, largest); });
  if (ranks.size() > 1) owners_.resize(points.size());
  std::vector<Index> outside;
  for_each_gathered(beyond, [&](Index point, std::span<const double> distances) {
    const auto nearest = std::min_element(distances.begin(), distances.end());
    if (*nearest == kNowhere) outside.push_back(point);
    if (!owners_.empty()) owners_[point] = static_cast<int>(nearest - distances.begin());
  });
  if (!outside.empty()) throw PointsOutside(std::move(outside), reason_text(ranks, discretization));
}

void Probes::evaluate(std::span<const double> u, std::span<double> values) const {
  const int n = basis_.size();
  const int planes = lattice_.dimension() == 3 ? n : 1;
  parallel_ranges(size(), [&](Range range) {
    std::array<LineValues, 3> l;
    l[2][0] = 1.0;
    for (Index p = range.begin; p < range.end; ++p) {
      values[p] = 0.0;
      if (!is_mine(p)) continue;
      const Place& place = places_[p];
      for (int d = 0; d < lattice_.dimension(); ++d) basis_.values(place.reference[d], l[d]);
      double value = 0.0;
      for (int k = 0; k < planes; ++k) {
        for (int j = 0; j < n; ++j) {
          const double* const row = u.data() + place.first_node + lattice_.offset(0, j, k);
          double sum = 0.0;
          for (int i = 0; i < n; ++i) sum += l[0][i] * row[i];
          value += l[2][k] * l[1][j] * sum;
        }
      }
      values[p] = value;
    }
  });
  if (owners_.empty()) return;
  for_each_gathered(values, [&](Index point, std::span<const double> of_ranks) {
    values[point] = of_ranks[static_cast<std::size_t>(owners_[point])];
  });
}

std::vector<double> values_at(std::span<const Point> points, const ScalarField& field) {
  std::vector<double> values(points.size());
  parallel_ranges(static_cast<Index>(points.size()), [&](Range range) {
    std::array<std::array<double, kBlock>, 3> x;
    for (Index first = range.begin; first < range.end; first += kBlock) {
      const Index count = std::min(kBlock, range.end - first);
      for (Index i = 0; i < count; ++i) {
        for (int d = 0; d < 3; ++d) x[d][i] = points[first + i][d];
      }
      field.evaluate({static_cast<std::size_t>(count), x[0].data(), x[1].data(), x[2].data()},
                     values.data() + first);
    }
  });
  return values;
}

void write_probes_csv(AtomicFile& file, std::span<const Point> points, const ProbeValues& values) {
  constexpr std::size_t kTextBlock = std::size_t{1} << 20;
  const bool has_exact = !values.exact.empty();
  std::string text = has_exact ? "x,y,z,u,exact,error\n" : "x,y,z,u\n";
  const auto out = std::back_inserter(text);
  for (std::size_t i = 0; i < points.size(); ++i) {
    const auto& [x, y, z] = points[i];
    fmt::format_to(out, "{},{},{},{}", x, y, z, values.u[i]);
    if (has_exact) {
      fmt::format_to(out, ",{},{}", values.exact[i], values.u[i] - values.exact[i]);
    }
    text += '\n';
    if (text.size() < kTextBlock) continue;
    file.write(text);
    text.clear();
  }
  file.write(text);
}

}  // namespace tessera
