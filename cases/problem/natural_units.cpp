// This file samples the coefficient and scales a problem's fields.
#include "cases/problem/natural_units.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "mesh/geometry/cell_geometry.hpp"
#include "operators/form/on_all_ranks.hpp"

namespace tessera {
namespace {

constexpr Index kSampledCells = 8;

// Exponents of the least and of the largest magnitude that there is.
struct Magnitudes {
  double least = std::numeric_limits<double>::infinity();
  double largest = -std::numeric_limits<double>::infinity();

  void add(const std::vector<double>& values) {
    for (const double value : values) {
      const double logarithm = std::log2(std::abs(value));
      if (!std::isfinite(logarithm)) continue;
      least = std::min(least, logarithm);
      largest = std::max(largest, logarithm);
    }
  }
  // Over all ranks that have a part of the problem.
  void add_others(const Communicator& ranks) {
    ranks.min({&least, 1});
    ranks.max({&largest, 1});
  }
  double power_of_4() const {
    return least > largest ? 1.0 : std::exp2(2.0 * std::round(0.25 * (least + largest)));
  }
};

double unit_of(double value) {
  Magnitudes magnitudes;
  magnitudes.add({value});
  return magnitudes.power_of_4();
}

// Calls f(points) for the quadrature points of some cells.
template <class F>
void for_sampled_cells(const Discretization& discretization, F&& f) {
  const BoxMesh& mesh = discretization.mesh;
  CellGeometry geometry(discretization, discretization.basis, nullptr, AskedCells::few);
  IndexTriple step{1, 1, 1};
  for (int d = 0; d < mesh.dimension(); ++d) step[d] = ceil_div(mesh.cells()[d], kSampledCells);
  std::vector<IndexTriple> cells;
  const auto flush = [&] {
    geometry.evaluate(cells);
    f(geometry.positions());
    cells.clear();
  };
  for (Index k = 0; k < mesh.cells()[2]; k += step[2]) {
    for (Index j = 0; j < mesh.cells()[1]; j += step[1]) {
      for (Index i = 0; i < mesh.cells()[0]; i += step[0]) {
        cells.push_back({i, j, k});
        if (cells.size() == kLanes<double>) flush();
      }
    }
  }
  if (!cells.empty()) flush();
}

}  // namespace

NaturalUnits natural_units(const PoissonProblem& problem, const Discretization& discretization,
                           const ScalarField& u) {
  NaturalUnits units;
  units.dimension = problem.dimension;
  units.frame = discretization.frame;
  const ScalarField& k = problem.coefficient;
  if (k.constant) {
    units.coefficient = units.coefficient_factors[0] = unit_of(*k.constant);
    return units;
  }
  std::vector<ScalarField> fields;
  if (k.factors == nullptr) {
    fields.push_back(in_frame(k, units.frame));
  } else {
    for (int d = 0; d < units.dimension; ++d) {
      fields.push_back(in_frame((*k.factors)[d], units.frame));
    }
  }
  std::vector<Magnitudes> magnitudes(fields.size());
  const ScalarField typical_u = in_frame(u, units.frame);
  std::vector<double> values;
  std::vector<double> u_values;
  on_all_ranks(problem.part.get(), [&] {
    for_sampled_cells(discretization, [&](PointBlock points) {
      values.resize(points.n);
      if (k.depends_on_u) {
        u_values.resize(points.n);
        typical_u.evaluate(points, u_values.data());
        points.u = u_values.data();
      }
      for (std::size_t i = 0; i < fields.size(); ++i) {
        fields[i].evaluate(points, values.data());
        magnitudes[i].add(values);
      }
    });
  });
  for (std::size_t i = 0; i < fields.size(); ++i) {
    if (problem.part) magnitudes[i].add_others(problem.part->ranks());
    units.coefficient_factors[i] = magnitudes[i].power_of_4();
    units.coefficient *= units.coefficient_factors[i];
  }
  return units;
}

PoissonProblem in_units(const PoissonProblem& problem, const NaturalUnits& units) {
  const Frame& frame = units.frame;
  PoissonProblem scaled;
  scaled.dimension = problem.dimension;
  scaled.coefficient = in_frame(problem.coefficient, frame, units.coefficient);
  if (problem.coefficient.factors != nullptr) {
    std::array<ScalarField, 3> factors;
    for (int d = 0; d < 3; ++d) {
      factors[d] = in_frame((*problem.coefficient.factors)[d], frame, units.coefficient_factors[d]);
    }
    scaled.coefficient.factors =
        std::make_shared<const std::array<ScalarField, 3>>(std::move(factors));
  }
  scaled.reaction = in_frame(problem.reaction, frame, units.source());
  scaled.capacity = in_frame(problem.capacity, frame, units.source());
  scaled.source_unit = units.source();
  scaled.load_unit = units.load();
  scaled.part = problem.part;
  scaled.source = in_frame(problem.source, frame, units.source());
  for (int face = 0; face < face_count(problem.dimension); ++face) {
    const BoundaryCondition& from = problem.boundary[face];
    BoundaryCondition& to = scaled.boundary[face];
    to.type = from.type;
    to.value =
        in_frame(from.value, frame, from.type == BoundaryType::dirichlet ? 1.0 : units.flux());
    if (from.alpha) to.alpha = in_frame(*from.alpha, frame, units.flux());
  }
  return scaled;
}

}  // namespace tessera
