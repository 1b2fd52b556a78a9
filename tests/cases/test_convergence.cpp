// These tests measure rates of convergence with a known solution.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <tuple>
#include <utility>
#include <vector>

#include "cases/problem/poisson_problem.hpp"
#include "operators/strategy.hpp"
#include "postprocess/error_norms.hpp"
#include "tests/device_test.hpp"
#include "tests/operators/problems.hpp"
#include "tests/solvers/solve_once.hpp"

namespace tessera::testing {
namespace {

constexpr Point kLower = {-0.4, 0.2, 0.5};
constexpr Point kUpper = {0.8, 1.7, 1.3};

/// Everything about the exact solution: u = s_x s_y s_z, s_d = sin(kWave[d] x_d + kPhase[d]), and
/// k = exp(0.3 (x + 2 y - z)), a product of functions of one coordinate. In 2D z = 0 and s_z = 1.
struct Exact {
  static constexpr Point kWave = {3.1, 2.3, 2.7};
  static constexpr Point kPhase = {0.4, 1.1, 0.7};
  static constexpr Point kInK = {0.3, 0.6, -0.3};

  int dimension;

  double product(const Point& at, int derivative_axis) const {
    double result = 1.0;
    for (int d = 0; d < dimension; ++d) {
      const double angle = kWave[d] * at[d] + kPhase[d];
      result *= d == derivative_axis ? kWave[d] * std::cos(angle) : std::sin(angle);
    }
    return result;
  }
  double u(const Point& at) const { return product(at, -1); }
  static double k_factor(int d, const Point& at) { return std::exp(kInK[d] * at[d]); }
  static double k(const Point& at) { return k_factor(0, at) * k_factor(1, at) * k_factor(2, at); }
  /// -div(k grad u).
  double source(const Point& at) const {
    double laplacian = 0.0;
    double gradients = 0.0;
    for (int d = 0; d < dimension; ++d) {
      laplacian -= kWave[d] * kWave[d] * u(at);
      gradients += k(at) * kInK[d] * product(at, d);
    }
    return -gradients - k(at) * laplacian;
  }
  /// k grad u . normal.
  double flux(const Point& at, const Point& normal) const {
    double result = 0.0;
    for (int d = 0; d < dimension; ++d) result += k(at) * product(at, d) * normal[d];
    return result;
  }
};

double alpha(const Point& at) { return 2.0 + at[0] * at[1] + 0.5 * std::sin(at[2]); }

// Bottom and top are graphs over x and z; the other faces stay flat, but the points on them move.
double hill(double x, double z) { return 0.12 * std::sin(1.7 * x + 0.6 * z); }

double bubble(int d, double x) { return (x - kLower[d]) * (kUpper[d] - x); }

Point curved(const Point& at) {
  const double side = std::sin(std::numbers::pi * (at[1] - kLower[1]) / (kUpper[1] - kLower[1]));
  return {at[0] + 0.25 * bubble(0, at[0]) * side, at[1] + hill(at[0], at[2]),
          at[2] + 0.2 * bubble(2, at[2]) * side};
}

Point outward_normal(int dimension, Geometry geometry, int face, const Point& at) {
  Point normal = {0.0, 0.0, 0.0};
  const double sign = is_upper_face(face) ? 1.0 : -1.0;
  const int axis = face_axis(face);
  normal[axis] = sign;
  if (geometry == Geometry::curved && axis == 1) {
    const double slope = 0.12 * std::cos(1.7 * at[0] + 0.6 * at[2]);
    normal = {-1.7 * slope, 1.0, dimension == 3 ? -0.6 * slope : 0.0};
    const double length = std::hypot(normal[0], normal[1], normal[2]);
    for (double& component : normal) component *= sign / length;
  }
  return normal;
}

enum class Faces { dirichlet, neumann, robin, pure_neumann };

BoundaryType type_of(Faces faces, int face) {
  switch (faces) {
    case Faces::dirichlet:
      return BoundaryType::dirichlet;
    case Faces::neumann:  // right, top and front
      return is_upper_face(face) ? BoundaryType::neumann : BoundaryType::dirichlet;
    case Faces::robin:  // right, top and front; left is Dirichlet, the others Neumann
      return is_upper_face(face) ? BoundaryType::robin
                                 : (face == 0 ? BoundaryType::dirichlet : BoundaryType::neumann);
    case Faces::pure_neumann:
      return BoundaryType::neumann;
  }
  return BoundaryType::dirichlet;
}

template <class F>
ScalarField field_at(F function) {
  return field_of([function](double x, double y, double z) { return function(Point{x, y, z}); });
}

ScalarField coefficient() {
  ScalarField field = field_at(&Exact::k);
  std::array<ScalarField, 3> factors;
  for (int d = 0; d < 3; ++d) {
    factors[d] = field_at([d](const Point& at) { return Exact::k_factor(d, at); });
  }
  field.factors = std::make_shared<const std::array<ScalarField, 3>>(std::move(factors));
  return field;
}

PoissonProblem make_poisson_problem(const Exact& exact, Geometry geometry, Faces faces) {
  PoissonProblem problem;
  problem.dimension = exact.dimension;
  problem.coefficient = coefficient();
  problem.source = field_at([exact](const Point& at) { return exact.source(at); });
  for (int face = 0; face < face_count(exact.dimension); ++face) {
    BoundaryCondition& condition = problem.boundary[face];
    condition.type = type_of(faces, face);
    const auto flux = [=](const Point& at) {
      return exact.flux(at, outward_normal(exact.dimension, geometry, face, at));
    };
    switch (condition.type) {
      case BoundaryType::dirichlet:
        condition.value = field_at([exact](const Point& at) { return exact.u(at); });
        break;
      case BoundaryType::neumann:
        condition.value = field_at(flux);
        break;
      case BoundaryType::robin:
        condition.alpha = field_at(alpha);
        condition.value =
            field_at([=](const Point& at) { return flux(at) + alpha(at) * exact.u(at); });
        break;
    }
  }
  return problem;
}

// Every cell cut into two halves.
GridLines halved(const GridLines& lines) {
  GridLines finer;
  for (std::size_t i = 0; i + 1 < lines.size(); ++i) {
    finer.push_back(lines[i]);
    finer.push_back(0.5 * (lines[i] + lines[i + 1]));
  }
  finer.push_back(lines.back());
  return finer;
}

Discretization make_mesh(int dimension, int degree, Geometry geometry, IndexTriple cells,
                         int halvings) {
  std::array<GridLines, 3> lines;
  if (geometry == Geometry::graded) lines = graded_lines(cells, kLower, kUpper);
  for (; halvings > 0; --halvings) {
    for (int d = 0; d < dimension; ++d) {
      cells[d] *= 2;
      if (!lines[d].empty()) lines[d] = halved(lines[d]);
    }
  }
  const BoxMesh mesh(dimension, cells, kLower, kUpper, std::move(lines));
  const Basis1D basis =
      make_basis(degree, NodeFamily::gauss_lobatto, QuadratureRule::gauss, degree + 1);
  if (geometry != Geometry::curved) return make_discretization(mesh, basis);
  std::array<ScalarField, 3> components;
  for (int d = 0; d < dimension; ++d) {
    components[d] = field_at([d](const Point& at) { return curved(at)[d]; });
  }
  return make_mapped_discretization(mesh, basis, components);
}

StrategyName strategy_for(Geometry geometry, Processor processor) {
  if (geometry == Geometry::cartesian) return {"kronecker", "none"};
  return {"tensor", processor == Processor::cpu ? "coloring" : "patch"};
}

template <class Space>
SolveReport solve_in(const StrategyName& strategy, const BilinearForm& form, LinearSystem& system,
                     const SolveOptions& options) {
  const auto a = make_operator<double, Space>(strategy, form);
  const Jacobi<double, Space> jacobi(*a);
  Vector<double, Space> x(a->size());
  Vector<double, Space> b(a->size());
  copy(system.x, x);
  copy(system.b, b);
  const SolveReport report = cg<double>(*a, &jacobi, b, x, options);
  copy(x, system.x);
  return report;
}

ErrorNorms solve(const PoissonProblem& problem, const Discretization& discretization,
                 const Exact& exact, const StrategyName& strategy, Processor processor) {
  LinearSystem system = make_linear_system(problem, discretization, constant_field(0.0));
  SolveOptions options;
  options.relative_tolerance = 1e-12;
  options.reference_norm = system.reference_norm;
  options.max_iterations = 5000;
  const BilinearForm form = stiffness_form(problem, discretization);
  SolveReport report;
  if constexpr (kHasCuda) {
    if (processor == Processor::gpu) report = solve_in<Device>(strategy, form, system, options);
  }
  if (processor == Processor::cpu) report = solve_in<Host>(strategy, form, system, options);
  EXPECT_EQ(report.status, SolveStatus::converged) << status_name(report.status);
  ScalarField solution = field_at([exact](const Point& at) { return exact.u(at); });
  if (system.is_singular) {
    const SolutionNumbers numbers =
        solution_numbers(discretization, system.x.span(), problem.coefficient);
    for (Index i = 0; i < system.x.size(); ++i) system.x[i] -= numbers.integral / numbers.volume;
    solution = shifted(solution, mean_value(discretization, solution));
  }
  return error_norms(discretization, system.x.span(), solution);
}

// The coarser of two meshes, fine enough for the rate to have settled; few cells for high degrees,
// whose error would soon be that of rounding.
IndexTriple coarse_cells(int dimension, int degree) {
  static constexpr std::array<IndexTriple, 6> k2d = {
      {{16, 12, 1}, {8, 10, 1}, {5, 6, 1}, {5, 6, 1}, {4, 6, 1}, {4, 6, 1}}};
  static constexpr std::array<IndexTriple, 6> k3d = {
      {{9, 12, 8}, {4, 6, 3}, {3, 4, 2}, {3, 4, 2}, {3, 4, 2}, {2, 3, 2}}};
  return (dimension == 2 ? k2d : k3d)[degree - 1];
}

using Tested = std::tuple<int, int, Geometry, Faces>;

class Convergence : public ::testing::TestWithParam<Tested> {};

void expect_order_of_degree(const Tested& tested, Processor processor) {
  const auto [dimension, degree, geometry, faces] = tested;
  const Exact exact{dimension};
  const PoissonProblem problem = make_poisson_problem(exact, geometry, faces);
  const IndexTriple cells = coarse_cells(dimension, degree);
  std::array<ErrorNorms, 2> errors;
  // The widest of graded cells are too wide before they are halved.
  const int first = geometry == Geometry::graded ? 1 : 0;
  for (const int level : {0, 1}) {
    errors[level] = solve(problem, make_mesh(dimension, degree, geometry, cells, first + level),
                          exact, strategy_for(geometry, processor), processor);
  }
  const double l2_rate = std::log2(errors[0].l2 / errors[1].l2);
  const double h1_rate = std::log2(errors[0].h1_seminorm / errors[1].h1_seminorm);
  ::testing::Test::RecordProperty("l2_rate", fmt::format("{:.3f}", l2_rate));
  ::testing::Test::RecordProperty("h1_rate", fmt::format("{:.3f}", h1_rate));
  SCOPED_TRACE(fmt::format("L2 {:.3e} -> {:.3e}, H1 {:.3e} -> {:.3e}, max {:.3e} -> {:.3e}",
                           errors[0].l2, errors[1].l2, errors[0].h1_seminorm, errors[1].h1_seminorm,
                           errors[0].max, errors[1].max));
  EXPECT_GE(l2_rate, degree + 1 - 0.2);
  EXPECT_LE(l2_rate, degree + 1 + 0.6);
  EXPECT_GE(h1_rate, degree - 0.2);
  EXPECT_LE(h1_rate, degree + 0.6);
}

double reaction(const Point& at) { return 30.0 * (2.0 + std::sin(4.0 * at[0]) * at[1]); }

class ReactionConvergence : public ::testing::TestWithParam<std::tuple<int, int, Geometry>> {};

TEST_P(ReactionConvergence, IsOfTheOrderOfTheDegree) {
  const auto [dimension, degree, geometry] = GetParam();
  const Exact exact{dimension};
  PoissonProblem problem = make_poisson_problem(exact, geometry, Faces::robin);
  problem.reaction = field_at(reaction);
  problem.source =
      field_at([exact](const Point& at) { return exact.source(at) + reaction(at) * exact.u(at); });
  const IndexTriple cells = coarse_cells(dimension, degree);
  std::array<double, 2> errors;
  for (const int level : {0, 1}) {
    errors[level] = solve(problem, make_mesh(dimension, degree, geometry, cells, level), exact,
                          {"tensor", "coloring"}, Processor::cpu)
                        .l2;
  }
  const double rate = std::log2(errors[0] / errors[1]);
  RecordProperty("l2_rate", fmt::format("{:.3f}", rate));
  EXPECT_GE(rate, degree + 1 - 0.2);
  EXPECT_LE(rate, degree + 1 + 0.6);
}

INSTANTIATE_TEST_SUITE_P(Problems, ReactionConvergence,
                         ::testing::Combine(::testing::Values(2, 3), ::testing::Range(1, 6),
                                            ::testing::Values(Geometry::cartesian,
                                                              Geometry::curved)));

TEST_P(Convergence, IsOfTheOrderOfTheDegree) { expect_order_of_degree(GetParam(), Processor::cpu); }

TEST_P(Convergence, IsOfTheOrderOfTheDegreeOnTheGpu) {
  TESSERA_REQUIRE_DEVICE();
  expect_order_of_degree(GetParam(), Processor::gpu);
}

std::string tested_name(const ::testing::TestParamInfo<Tested>& tested) {
  constexpr std::array<const char*, 4> kFaces = {"Dirichlet", "Neumann", "Robin", "PureNeumann"};
  constexpr std::array<const char*, 3> kGeometries = {"Cartesian", "Curved", "Graded"};
  const auto [dimension, degree, geometry, faces] = tested.param;
  return fmt::format("{}d{}{}Degree{}", dimension, kGeometries[static_cast<int>(geometry)],
                     kFaces[static_cast<int>(faces)], degree);
}

INSTANTIATE_TEST_SUITE_P(Problems, Convergence,
                         ::testing::Combine(::testing::Values(2, 3), ::testing::Range(1, 7),
                                            ::testing::Values(Geometry::cartesian,
                                                              Geometry::curved),
                                            ::testing::Values(Faces::dirichlet, Faces::neumann,
                                                              Faces::robin, Faces::pure_neumann)),
                         tested_name);

INSTANTIATE_TEST_SUITE_P(Graded2d, Convergence,
                         ::testing::Combine(::testing::Values(2), ::testing::Range(1, 7),
                                            ::testing::Values(Geometry::graded),
                                            ::testing::Values(Faces::dirichlet, Faces::robin)),
                         tested_name);

INSTANTIATE_TEST_SUITE_P(Graded3d, Convergence,
                         ::testing::Combine(::testing::Values(3), ::testing::Range(1, 5),
                                            ::testing::Values(Geometry::graded),
                                            ::testing::Values(Faces::dirichlet, Faces::robin)),
                         tested_name);

}  // namespace
}  // namespace tessera::testing
