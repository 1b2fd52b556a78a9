// This file makes the problems that operators are tested on.
#include "tests/operators/problems.hpp"

#include <fmt/format.h>
#include <omp.h>

#include <cmath>
#include <limits>

namespace tessera::testing {
namespace {

constexpr Point kLower = {-0.5, 0.25, 1.0};
constexpr Point kUpper = {1.0, 1.35, 1.8};

constexpr std::array<const char*, 3> kGeometryNames = {"Cartesian", "curved", "graded"};
constexpr std::array<const char*, 3> kCoefficientNames = {"constant", "variable", "separable"};
constexpr std::array<const char*, 3> kReactionNames = {"none", "constant", "variable"};

double curved_x(double x, double y, double z) {
  return x + 0.08 * std::sin(2.0 * y + z) + 0.05 * x * y;
}
double curved_y(double x, double y, double z) {
  return y + 0.07 * std::sin(1.5 * x) - 0.04 * z * x;
}
double curved_z(double x, double y, double z) {
  return z + 0.06 * std::sin(x + 2.0 * y) + 0.03 * y * z;
}

double variable_coefficient(double x, double y, double z) {
  return 2.0 + 0.5 * std::sin(3.0 * x + y) + 0.3 * std::cos(2.0 * z);
}
// A product of functions of one coordinate, and these.
double separable_coefficient(double x, double y, double z) {
  return (1.2 + std::sin(3.0 * x)) * (2.0 - 0.7 * y) * (1.0 + z * z);
}
std::array<ScalarField, 3> separable_factors() {
  return {field_of([](double x, double, double) { return 1.2 + std::sin(3.0 * x); }),
          field_of([](double, double y, double) { return 2.0 - 0.7 * y; }),
          field_of([](double, double, double z) { return 1.0 + z * z; })};
}
ScalarField make_coefficient(Coefficient coefficient) {
  if (coefficient == Coefficient::constant) return constant_field(1.7);
  if (coefficient == Coefficient::variable) return field_of(variable_coefficient);
  ScalarField field = field_of(separable_coefficient);
  field.factors = std::make_shared<const std::array<ScalarField, 3>>(separable_factors());
  return field;
}

// 0 in half of the box.
double variable_reaction(double x, double y, double z) {
  return std::max(0.0, 40.0 * (x - 0.2) * (2.0 + std::sin(y + 3.0 * z)));
}
ScalarField make_reaction(Reaction reaction) {
  if (reaction == Reaction::none) return constant_field(0.0);
  return reaction == Reaction::constant ? constant_field(23.0) : field_of(variable_reaction);
}

double variable_alpha(double x, double y, double z) {
  return 1.5 + 0.5 * std::sin(2.0 * y + z - x);
}

}  // namespace

ScalarField field_of(PointFunction function) {
  return {[function = std::move(function)](const PointBlock& points, double* values) {
            for (std::size_t i = 0; i < points.n; ++i) {
              values[i] = function(points.x[i], points.y[i], points.z[i]);
            }
          },
          std::nullopt};
}

ScalarField varying_along(int axis, const ScalarField& field) {
  std::array<ScalarField, 3> factors = {constant_field(1.0), constant_field(1.0),
                                        constant_field(1.0)};
  factors[axis] = field;
  ScalarField product = field;
  product.factors = std::make_shared<const std::array<ScalarField, 3>>(std::move(factors));
  return product;
}

std::string describe(const ProblemOptions& options) {
  return fmt::format(
      "{}D p={} cells {}x{}x{} points {} {} nodes, {} rule, {}, k {}, reaction {}, boundary {}",
      options.dimension, options.degree, options.cells[0], options.cells[1], options.cells[2],
      options.points, options.nodes == NodeFamily::gauss_lobatto ? "Gauss-Lobatto" : "equidistant",
      options.rule == QuadratureRule::gauss ? "Gauss" : "Gauss-Lobatto",
      kGeometryNames[static_cast<int>(options.geometry)],
      kCoefficientNames[static_cast<int>(options.coefficient)],
      kReactionNames[static_cast<int>(options.reaction)], static_cast<int>(options.boundary));
}

std::array<GridLines, 3> graded_lines(const IndexTriple& cells, const Point& lower,
                                      const Point& upper) {
  const auto ratio = [&](int d, double last_to_first) {
    return std::pow(last_to_first, 1.0 / static_cast<double>(cells[d]));
  };
  const std::vector<double> random = random_values(cells[1], 43);
  GridLines y = {0.0};
  for (const double value : random) y.push_back(y.back() + 1.0 + 0.5 * value);
  for (double& line : y) line = lower[1] + (upper[1] - lower[1]) * (line / y.back());
  y.back() = upper[1];
  return {geometric_lines(lower[0], upper[0], cells[0], ratio(0, 5.0)), std::move(y),
          geometric_lines(lower[2], upper[2], cells[2], ratio(2, 0.3))};
}

Discretization make_discretization(const BoxMesh& mesh, const Basis1D& basis) {
  const NodeLattice lattice(mesh, basis.degree);
  return {mesh, basis, lattice, Mapping(mesh, lattice, basis.nodes)};
}

Discretization make_mapped_discretization(const BoxMesh& mesh, const Basis1D& basis,
                                          const std::array<ScalarField, 3>& components) {
  const NodeLattice lattice(mesh, basis.degree);
  return {mesh, basis, lattice, Mapping(mesh, lattice, basis.nodes, components)};
}

Problem make_problem(const ProblemOptions& options) {
  std::array<GridLines, 3> lines;
  if (options.geometry == Geometry::graded) lines = graded_lines(options.cells, kLower, kUpper);
  for (int d = 0; d < 3; ++d) {
    if (options.graded_axis >= 0 && d != options.graded_axis) lines[d].clear();
  }
  const BoxMesh mesh(options.dimension, options.cells, kLower, kUpper, lines);
  const int points = options.points > 0 ? options.points : options.degree + 1;
  const Basis1D basis = make_basis(options.degree, options.nodes, options.rule, points);
  Problem problem;
  problem.discretization = std::make_unique<const Discretization>(
      options.geometry == Geometry::curved
          ? make_mapped_discretization(mesh, basis,
                                       {field_of(curved_x), field_of(curved_y), field_of(curved_z)})
          : make_discretization(mesh, basis));
  BilinearForm& form = problem.form;
  form.discretization = problem.discretization.get();
  form.coefficient = make_coefficient(options.coefficient);
  form.reaction = make_reaction(options.reaction);
  if (options.boundary == Boundary::mixed) {
    form.dirichlet.set(static_cast<int>(Face::left));
    form.dirichlet.set(static_cast<int>(Face::top));
    form.robin.push_back({static_cast<int>(Face::right), field_of(variable_alpha)});
    if (options.dimension == 3) {
      form.robin.push_back({static_cast<int>(Face::back), constant_field(0.8)});
    }
  } else if (options.boundary == Boundary::dirichlet) {
    for (int face = 0; face < face_count(options.dimension); ++face) form.dirichlet.set(face);
  }
  return problem;
}

ProblemOptions stencil_options(int dimension, const IndexTriple& cells) {
  ProblemOptions options;
  options.dimension = dimension;
  options.degree = 1;
  options.cells = cells;
  return options;
}

std::vector<ProblemOptions> with_every_form(ProblemOptions options) {
  std::vector<ProblemOptions> all;
  for (const Boundary boundary : {Boundary::none, Boundary::mixed, Boundary::dirichlet}) {
    for (const Coefficient coefficient : {Coefficient::constant, Coefficient::variable}) {
      for (const Geometry geometry : {Geometry::cartesian, Geometry::curved, Geometry::graded}) {
        options.boundary = boundary;
        options.coefficient = coefficient;
        options.geometry = geometry;
        all.push_back(options);
      }
    }
  }
  return all;
}

Problem make_one_dirichlet_face_problem(ProblemOptions options, int face) {
  options.boundary = Boundary::none;
  Problem problem = make_problem(options);
  problem.form.dirichlet.set(face);
  for (int other = 0; other < face_count(options.dimension); ++other) {
    if (other != face) problem.form.robin.push_back({other, constant_field(1.0 + other)});
  }
  return problem;
}

template <class T>
double relative_difference(const HostVector<T>& a, const std::vector<double>& b) {
  double difference = 0.0;
  double scale = 0.0;
  for (std::size_t i = 0; i < b.size(); ++i) {
    const auto value = static_cast<double>(a[i]);
    if (!std::isfinite(value) || !std::isfinite(b[i])) {
      return std::numeric_limits<double>::infinity();
    }
    difference = std::max(difference, std::abs(value - b[i]));
    scale = std::max(scale, std::abs(b[i]));
  }
  return difference == 0.0 ? 0.0 : difference / scale;
}

template double relative_difference(const HostVector<double>&, const std::vector<double>&);
template double relative_difference(const HostVector<float>&, const std::vector<double>&);

}  // namespace tessera::testing
