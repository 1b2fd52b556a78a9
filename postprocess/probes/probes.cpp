// This file finds points once, and evaluates functions there.
#include "postprocess/probes/probes.hpp"

#include <fmt/format.h>
#include <omp.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <limits>

#include "mesh/partition.hpp"
#include "postprocess/probes/point_location.hpp"
#include "solvers/interruption.hpp"

namespace tessera {
namespace {

constexpr Index kBlock = 512;

// "x from 0 to 1, y from 0 to 2": the box around the nodes, in physical coordinates.
std::string bounds_text(const Discretization& discretization) {
  const NodeLattice& lattice = discretization.lattice;
  const Frame& frame = discretization.frame;
  std::string text;
  for (int d = 0; d < lattice.dimension(); ++d) {
    double low = std::numeric_limits<double>::infinity();
    double high = -low;
    const auto extend = [&](std::span<const double> values) {
      const auto [least, largest] = std::minmax_element(values.begin(), values.end());
      low = *least;
      high = *largest;
    };
    if (discretization.mapping.is_cartesian()) {
      extend(discretization.mapping.line(d));
    } else {
      const auto& x = discretization.mapping.coordinate(d);
      extend({x.data(), static_cast<std::size_t>(lattice.size())});
    }
    fmt::format_to(std::back_inserter(text), "{}{} from {:.6g} to {:.6g}", d == 0 ? "" : ", ",
                   "xyz"[d], frame.origin[d] + frame.length * low,
                   frame.origin[d] + frame.length * high);
  }
  return text;
}

std::string reason_text(const Discretization& discretization) {
  const std::string bounds = bounds_text(discretization);
  return discretization.mapping.is_cartesian()
             ? fmt::format("is outside the domain, which has {}", bounds)
             : fmt::format("is outside the mesh, whose curved cells of degree {} lie in the box {}",
                           discretization.lattice.degree(), bounds);
}

}  // namespace

Probes::Probes(const Discretization& discretization, std::span<const Point> points)
    : lattice_(discretization.lattice), basis_(discretization.basis.nodes), places_(points.size()) {
  const PointLocator locator(discretization);
  std::vector<std::vector<Index>> outside(static_cast<std::size_t>(omp_get_max_threads()));
  parallel_ranges(size(), [&](Range range) {
    PointLocator::Scratch scratch;
    for (Index i = range.begin; i < range.end; ++i) {
      if (i % kBlock == 0) stop_if_requested();
      if (const auto place = locator.find(points[i], scratch)) {
        places_[i] = {lattice_.first_node(place->cell), place->xi};
      } else {
        outside[omp_get_thread_num()].push_back(i);
      }
    }
  });
  std::vector<Index> all;
  for (const std::vector<Index>& part : outside) all.insert(all.end(), part.begin(), part.end());
  if (!all.empty()) throw PointsOutside(std::move(all), reason_text(discretization));
}

void Probes::evaluate(std::span<const double> u, std::span<double> values) const {
  const int n = basis_.size();
  const int planes = lattice_.dimension() == 3 ? n : 1;
  parallel_ranges(size(), [&](Range range) {
    std::array<LineValues, 3> l;
    l[2][0] = 1.0;
    for (Index p = range.begin; p < range.end; ++p) {
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
