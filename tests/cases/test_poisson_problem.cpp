// These tests make linear systems of boundary value problems, pure Neumann ones included.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numbers>
#include <string>
#include <vector>

#include "cases/problem/poisson_problem.hpp"
#include "mesh/element/face_quadrature.hpp"
#include "mesh/errors.hpp"
#include "operators/load/load_vector.hpp"
#include "operators/strategy.hpp"
#include "postprocess/error_norms.hpp"
#include "tests/operators/problems.hpp"
#include "tests/operators/reference.hpp"
#include "tests/solvers/solve_once.hpp"

namespace tessera::testing {
namespace {

using ::testing::HasSubstr;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

constexpr int kLeft = static_cast<int>(Face::left);
constexpr int kRight = static_cast<int>(Face::right);
constexpr int kBottom = static_cast<int>(Face::bottom);
constexpr int kTop = static_cast<int>(Face::top);
constexpr int kBack = static_cast<int>(Face::back);
constexpr int kFront = static_cast<int>(Face::front);

BoundaryCondition dirichlet(ScalarField value) {
  return {BoundaryType::dirichlet, std::move(value), {}};
}
BoundaryCondition neumann(ScalarField value) {
  return {BoundaryType::neumann, std::move(value), {}};
}
BoundaryCondition robin(ScalarField alpha, ScalarField value) {
  return {BoundaryType::robin, std::move(value), std::move(alpha)};
}

// The mesh of the operators' tests, without the form.
Discretization test_mesh(int dimension, int degree, Geometry geometry) {
  ProblemOptions options;
  options.dimension = dimension;
  options.degree = degree;
  options.geometry = geometry;
  return *make_problem(options).discretization;
}

// A box with unequal edges, of volume 3 in both dimensions.
Discretization box_of_volume_3(int dimension, int degree = 2) {
  const BoxMesh mesh = dimension == 2 ? BoxMesh(2, {3, 2, 1}, {-1.0, 0.5, 0.0}, {1.0, 2.0, 0.0})
                                      : BoxMesh(3, {3, 2, 4}, {-1.0, 0.5, 0.0}, {1.0, 2.0, 1.0});
  return make_discretization(
      mesh, make_basis(degree, NodeFamily::gauss_lobatto, QuadratureRule::gauss, degree + 1));
}

// A condition of every kind; left and top are Dirichlet, right and back Robin.
PoissonProblem mixed_problem(int dimension) {
  PoissonProblem problem;
  problem.dimension = dimension;
  problem.coefficient =
      field_of([](double x, double y, double z) { return 2.0 + std::sin(x + 2.0 * y - z); });
  problem.source = field_of([](double x, double y, double z) { return x * y - std::cos(3.0 * z); });
  problem.boundary[kLeft] =
      dirichlet(field_of([](double x, double y, double z) { return 3.0 + x * y + z; }));
  problem.boundary[kRight] =
      robin(field_of([](double, double y, double z) { return 1.0 + y * y + z; }),
            field_of([](double x, double y, double z) { return std::exp(x - y) + z; }));
  problem.boundary[kBottom] =
      neumann(field_of([](double x, double, double z) { return std::cos(x) - z; }));
  problem.boundary[kTop] =
      dirichlet(field_of([](double x, double y, double z) { return -2.0 - x + y * z; }));
  if (dimension == 3) {
    problem.boundary[kBack] = robin(
        constant_field(0.7), field_of([](double x, double y, double) { return x + 2.0 * y; }));
    problem.boundary[kFront] = neumann(constant_field(-1.25));
  }
  return problem;
}

double sum(const HostVector<double>& x) {
  double total = 0.0;
  for (Index i = 0; i < x.size(); ++i) total += x[i];
  return total;
}

double one_norm(const HostVector<double>& x) {
  double total = 0.0;
  for (Index i = 0; i < x.size(); ++i) total += std::abs(x[i]);
  return total;
}

SolveReport solve(const PoissonProblem& problem, const Discretization& discretization,
                  LinearSystem& system) {
  const auto a =
      make_operator<double>({"tensor", "coloring"}, stiffness_form(problem, discretization));
  const Jacobi<double> jacobi(*a);
  SolveOptions options;
  options.relative_tolerance = 1e-12;
  options.reference_norm = system.reference_norm;
  return cg(*a, &jacobi, system.b, system.x, options);
}

class MixedProblem : public ::testing::TestWithParam<std::tuple<int, Geometry>> {};

TEST_P(MixedProblem, StartAndRightHandSideAreThoseOfTheDefinition) {
  const auto [dimension, geometry] = GetParam();
  const Discretization discretization = test_mesh(dimension, 3, geometry);
  const PoissonProblem problem = mixed_problem(dimension);
  const auto start = [](double x, double y, double z) { return 100.0 + x + y * z; };
  const LinearSystem system = make_linear_system(problem, discretization, field_of(start));

  const BilinearForm form = stiffness_form(problem, discretization);
  const Reference reference(form);
  const Index n = reference.size();
  ASSERT_EQ(system.x.size(), n);
  ASSERT_EQ(system.b.size(), n);

  const IndexTriple extents = discretization.lattice.extents();
  std::vector<double> values(n);
  for (Index i = 0; i < n; ++i) {
    Point at;
    discretization.mapping.node_positions(i, 1, at.data(), &at[1], &at[2]);
    const PointBlock point{1, at.data(), &at[1], &at[2]};
    const bool on_left = i % extents[0] == 0;
    const bool on_top = i / extents[0] % extents[1] == extents[1] - 1;
    values[i] = start(at[0], at[1], at[2]);
    if (on_top) problem.boundary[kTop].value.evaluate(point, &values[i]);
    if (on_left) problem.boundary[kLeft].value.evaluate(point, &values[i]);
    ASSERT_EQ(system.x[i], values[i]) << "node " << i;
    ASSERT_EQ(reference.is_constrained(i), on_left || on_top) << "node " << i;
  }

  std::vector<FluxTerm> fluxes = {{kRight, problem.boundary[kRight].value},
                                  {kBottom, problem.boundary[kBottom].value}};
  if (dimension == 3) {
    fluxes.push_back({kBack, problem.boundary[kBack].value});
    fluxes.push_back({kFront, problem.boundary[kFront].value});
  }
  const std::vector<double> load = reference.load(problem.source, fluxes, values);
  EXPECT_LT(relative_difference(system.b, load), 1e-12);

  double free_squares = 0.0;
  for (Index i = 0; i < n; ++i) free_squares += reference.is_constrained(i) ? 0 : load[i] * load[i];
  EXPECT_NEAR(system.reference_norm, std::sqrt(free_squares), 1e-12 * system.reference_norm);
  EXPECT_EQ(system.balance_defect, 0.0);
}

TEST_P(MixedProblem, FormHasItsConditions) {
  const auto [dimension, geometry] = GetParam();
  const Discretization discretization = test_mesh(dimension, 1, geometry);
  const BilinearForm form = stiffness_form(mixed_problem(dimension), discretization);
  EXPECT_EQ(form.discretization, &discretization);
  FaceSet expected;
  expected.set(kLeft).set(kTop);
  EXPECT_EQ(form.dirichlet, expected);
  ASSERT_EQ(form.robin.size(), dimension == 3 ? 2u : 1u);
  EXPECT_EQ(form.robin[0].face, kRight);
  EXPECT_FALSE(form.robin[0].alpha.constant);
  if (dimension == 3) {
    EXPECT_EQ(form.robin[1].face, kBack);
    EXPECT_EQ(form.robin[1].alpha.constant, 0.7);
  }
  const Point at = {0.25, -0.5, 0.75};
  double k = kNan;
  form.coefficient.evaluate({1, at.data(), &at[1], &at[2]}, &k);
  EXPECT_EQ(k, 2.0 + std::sin(-1.5));
}

INSTANTIATE_TEST_SUITE_P(
    Meshes, MixedProblem,
    ::testing::Combine(::testing::Values(2, 3),
                       ::testing::Values(Geometry::cartesian, Geometry::curved)),
    [](const auto& tested) {
      return fmt::format("{}d{}", std::get<0>(tested.param),
                         std::get<1>(tested.param) == Geometry::curved ? "Curved" : "Cartesian");
    });

// u = x^2 - 2 x y + 3 z y + 1 is in Q_2, and with k = 2 + x - y / 2 + z the Gauss rule is exact.
constexpr auto kU = [](double x, double y, double z) {
  return x * x - 2.0 * x * y + 3.0 * z * y + 1.0;
};
constexpr auto kK = [](double x, double y, double z) { return 3.5 + x - 0.5 * y + z; };
constexpr auto kGradient = [](double x, double y, double z) {
  return Point{2.0 * x - 2.0 * y, -2.0 * x + 3.0 * z, 3.0 * y};
};

double outward_flux(int face, double x, double y, double z) {
  const double derivative = kGradient(x, y, z)[face_axis(face)];
  return kK(x, y, z) * (is_upper_face(face) ? derivative : -derivative);
}

// The problem whose solution is kU with a condition of this type on each face.
PoissonProblem quadratic_problem(int dimension, const std::array<BoundaryType, 6>& types) {
  PoissonProblem problem;
  problem.dimension = dimension;
  problem.coefficient = field_of(kK);
  problem.source = field_of([dimension](double x, double y, double z) {
    const Point g = kGradient(x, y, z);
    return -(g[0] - 0.5 * g[1] + (dimension == 3 ? g[2] : 0.0)) - 2.0 * kK(x, y, z);
  });
  const auto alpha = [](double x, double y, double z) { return 4.0 + x + y - z; };
  for (int face = 0; face < face_count(dimension); ++face) {
    const auto flux = [face](double x, double y, double z) { return outward_flux(face, x, y, z); };
    switch (types[face]) {
      case BoundaryType::dirichlet:
        problem.boundary[face] = dirichlet(field_of(kU));
        break;
      case BoundaryType::neumann:
        problem.boundary[face] = neumann(field_of(flux));
        break;
      case BoundaryType::robin:
        problem.boundary[face] = robin(field_of(alpha), field_of([=](double x, double y, double z) {
                                         return flux(x, y, z) + alpha(x, y, z) * kU(x, y, z);
                                       }));
        break;
    }
  }
  return problem;
}

void expect_quadratic_is_found(const std::array<BoundaryType, 6>& types) {
  for (const int dimension : {2, 3}) {
    const Discretization discretization = box_of_volume_3(dimension);
    const PoissonProblem problem = quadratic_problem(dimension, types);
    LinearSystem system = make_linear_system(problem, discretization, constant_field(0.0));
    const SolveReport report = solve(problem, discretization, system);
    ASSERT_EQ(report.status, SolveStatus::converged);
    const ErrorNorms error = error_norms(discretization, system.x.span(), field_of(kU));
    EXPECT_LT(error.max, 1e-10) << dimension << "D";
    EXPECT_LT(error.h1_seminorm, 1e-10) << dimension << "D";
  }
}

constexpr BoundaryType kD = BoundaryType::dirichlet;
constexpr BoundaryType kN = BoundaryType::neumann;
constexpr BoundaryType kR = BoundaryType::robin;

TEST(QuadraticSolution, WithDirichletFaces) { expect_quadratic_is_found({kD, kD, kD, kD, kD, kD}); }

TEST(QuadraticSolution, WithNeumannFaces) {
  expect_quadratic_is_found({kN, kD, kN, kN, kN, kN});
  expect_quadratic_is_found({kD, kN, kN, kN, kN, kN});
}

TEST(QuadraticSolution, WithRobinFaces) {
  expect_quadratic_is_found({kR, kR, kR, kR, kR, kR});
  expect_quadratic_is_found({kD, kR, kR, kD, kN, kR});
  expect_quadratic_is_found({kN, kR, kN, kN, kN, kN});
}

TEST(QuadraticSolution, WithNeumannFacesOnly) {
  for (const int dimension : {2, 3}) {
    const Discretization discretization = box_of_volume_3(dimension);
    const PoissonProblem problem = quadratic_problem(dimension, {kN, kN, kN, kN, kN, kN});
    LinearSystem system = make_linear_system(problem, discretization, constant_field(5.0));
    EXPECT_LT(std::abs(system.balance_defect), 1e-13);
    ASSERT_EQ(solve(problem, discretization, system).status, SolveStatus::converged);
    // The solution is determined up to a constant: compared with mean 0, as the program does.
    const SolutionNumbers numbers =
        solution_numbers(discretization, system.x.span(), problem.coefficient);
    for (Index i = 0; i < system.x.size(); ++i) system.x[i] -= numbers.integral / numbers.volume;
    const ScalarField exact = shifted(field_of(kU), mean_value(discretization, field_of(kU)));
    EXPECT_NEAR(mean_value(discretization, exact), 0.0, 1e-13);
    const SolutionNumbers centered =
        solution_numbers(discretization, system.x.span(), problem.coefficient);
    EXPECT_NEAR(centered.integral, 0.0, 1e-13);
    EXPECT_LT(error_norms(discretization, system.x.span(), exact).max, 1e-10);
  }
}

PoissonProblem problem_of(int dimension, const BoundaryCondition& everywhere) {
  PoissonProblem problem;
  problem.dimension = dimension;
  for (int face = 0; face < face_count(dimension); ++face) problem.boundary[face] = everywhere;
  return problem;
}

bool has_free_constant(const PoissonProblem& problem, const Discretization& discretization) {
  return is_pure_neumann(stiffness_form(problem, discretization));
}

TEST(PureNeumann, IsAProblemWithoutDirichletFaceAndWithoutAlpha) {
  for (const int dimension : {2, 3}) {
    const Discretization mesh = box_of_volume_3(dimension);
    const int faces = face_count(dimension);
    EXPECT_FALSE(has_free_constant(problem_of(dimension, dirichlet(constant_field(0.0))), mesh));
    // In 2D the default Dirichlet conditions of back and front mean nothing.
    const PoissonProblem all_neumann = problem_of(dimension, neumann(constant_field(1.0)));
    EXPECT_TRUE(has_free_constant(all_neumann, mesh));
    for (int face = 0; face < faces; ++face) {
      PoissonProblem problem = all_neumann;
      problem.boundary[face] = dirichlet(constant_field(0.0));
      EXPECT_FALSE(has_free_constant(problem, mesh)) << "Dirichlet face " << face;
      problem.boundary[face] = robin(constant_field(1e-3), constant_field(0.0));
      EXPECT_FALSE(has_free_constant(problem, mesh)) << "Robin face " << face;
      problem.boundary[face] =
          robin(field_of([](double x, double, double) { return x + 1.5; }), constant_field(0.0));
      EXPECT_FALSE(has_free_constant(problem, mesh)) << "variable alpha, face " << face;
      problem.boundary[face] = robin(constant_field(0.0), constant_field(2.0));
      EXPECT_TRUE(has_free_constant(problem, mesh)) << "alpha = 0, face " << face;
    }
  }
}

TEST(PureNeumann, IsDecidedOnTheValuesOfAlpha) {
  for (const int dimension : {2, 3}) {
    const Discretization mesh = box_of_volume_3(dimension);
    for (int face = 0; face < face_count(dimension); ++face) {
      PoissonProblem problem = problem_of(dimension, neumann(constant_field(0.0)));
      const auto with_alpha = [&](auto alpha) {
        problem.boundary[face] = robin(field_of(alpha), constant_field(0.0));
        return stiffness_form(problem, mesh);
      };
      for (const BilinearForm& form :
           {with_alpha([](double x, double, double) { return 0.0 * x; }),
            with_alpha([](double x, double, double) { return std::max(0.0, x - 2.0); }),
            with_alpha([](double x, double, double) { return -0.0 * x; })}) {
        EXPECT_TRUE(is_pure_neumann(form)) << face;
        EXPECT_TRUE(form.robin.empty()) << face;
      }
      // The value at one quadrature point of the face is enough.
      const FaceQuadrature quadrature = make_face_quadrature(mesh, face);
      const Point only = {quadrature.x[2], quadrature.y[2], quadrature.z[2]};
      const BilinearForm little = with_alpha([only](double x, double y, double z) {
        return std::abs(x - only[0]) + std::abs(y - only[1]) + std::abs(z - only[2]) < 1e-9 ? 1e-3
                                                                                            : 0.0;
      });
      EXPECT_FALSE(is_pure_neumann(little)) << face;
      EXPECT_FALSE(make_linear_system(problem, mesh, constant_field(0.0)).is_singular) << face;
      // Neither negative values nor those that are none pass as 0.
      for (const double bad : {-1.0, kNan}) {
        with_alpha([bad](double, double, double) { return bad; });
        EXPECT_THROW(make_linear_system(problem, mesh, constant_field(0.0)), BadFieldValue);
      }
    }
  }
}

TEST(PureNeumann, ImbalanceIsRefusedWithItsNumbers) {
  for (const int dimension : {2, 3}) {
    const Discretization discretization = box_of_volume_3(dimension);
    PoissonProblem problem = problem_of(dimension, neumann(constant_field(0.0)));
    problem.source = constant_field(2.0);                  // 6
    problem.boundary[kLeft].value = constant_field(-1.0);  // -1.5
    problem.boundary[kTop].value =                         // 0.75 * 2
        field_of([](double x, double, double) { return 0.75 + x; });
    problem.boundary[kRight] = robin(constant_field(0.0), constant_field(5.0));  // 7.5
    try {
      make_linear_system(problem, discretization, constant_field(0.0));
      FAIL() << "a problem without solution was accepted";
    } catch (const IncompatibleData& error) {
      EXPECT_THAT(error.what(), HasSubstr("the integral of the source is 6, "));
      EXPECT_THAT(error.what(), HasSubstr("that of the boundary values 7.5, "));
    }
    problem.boundary[kBottom].value = constant_field(-13.5 / 2.0);
    EXPECT_NO_THROW(make_linear_system(problem, discretization, constant_field(0.0)));
    // With something that fixes the constant there is nothing to balance.
    problem.boundary[kBottom].value = constant_field(1.0);
    problem.boundary[kRight].alpha = constant_field(1.0);
    const LinearSystem robin = make_linear_system(problem, discretization, constant_field(0.0));
    EXPECT_EQ(robin.balance_defect, 0.0);
    EXPECT_NEAR(sum(robin.b), 6.0 - 1.5 + 1.5 + 7.5 + 2.0, 1e-12);
  }
}

TEST(PureNeumann, NumbersOfAnImbalanceAreThoseOfTheMappedDomain) {
  const Discretization curved = test_mesh(3, 2, Geometry::curved);
  PoissonProblem problem = problem_of(3, neumann(constant_field(0.0)));
  problem.source = constant_field(3.0);
  problem.boundary[kFront].value = constant_field(2.0);
  const Reference reference({&curved, constant_field(1.0), {}, {}});
  try {
    make_linear_system(problem, curved, constant_field(0.0));
    FAIL() << "a problem without solution was accepted";
  } catch (const IncompatibleData& error) {
    EXPECT_THAT(error.what(), HasSubstr(fmt::format("source is {:.6g}, that of the boundary "
                                                    "values {:.6g}, ",
                                                    3.0 * reference.volume(),
                                                    2.0 * reference.face_area(kFront))));
  }
}

// 1 - balanced by right, but for a share of the load's 1-norm.
PoissonProblem nearly_balanced(const Discretization& discretization, double share) {
  PoissonProblem problem =
      problem_of(discretization.mesh.dimension(), neumann(constant_field(0.0)));
  problem.source = constant_field(1.0);
  problem.boundary[kRight].value = constant_field(-2.0);  // face of area 1.5: -3
  const LinearSystem balanced = make_linear_system(problem, discretization, constant_field(0.0));
  problem.source = constant_field(1.0 + share * one_norm(balanced.b) / 3.0);
  return problem;
}

TEST(PureNeumann, ImbalanceOfRoundingIsTakenOffTheSource) {
  for (const int dimension : {2, 3}) {
    const Discretization discretization = box_of_volume_3(dimension, 1);
    for (const double share : {9e-11, -9e-11, 1e-12}) {
      const PoissonProblem problem = nearly_balanced(discretization, share);
      LinearSystem system = make_linear_system(problem, discretization, constant_field(0.0));
      const double excess = *problem.source.constant - 1.0;
      EXPECT_TRUE(system.is_singular);
      EXPECT_NEAR(system.balance_defect, excess, 1e-14);
      EXPECT_LT(std::abs(sum(system.b)), 1e-14);
      EXPECT_NEAR(system.reference_norm, norm(system.b), 1e-15);
      ASSERT_EQ(system.notes.size(), 1u);
      EXPECT_THAT(system.notes[0], HasSubstr(fmt::format("but for {:.2g} a unit volume, taken off "
                                                         "the source",
                                                         system.balance_defect)));
      // What remains is the load of source 1.
      PoissonProblem balanced = problem;
      balanced.source = constant_field(1.0);
      const LinearSystem expected = make_linear_system(balanced, discretization, constant_field(0));
      EXPECT_LT(relative_difference(system.b, std::vector<double>(expected.b.span().begin(),
                                                                  expected.b.span().end())),
                1e-13);
      EXPECT_EQ(solve(problem, discretization, system).status, SolveStatus::converged);
    }
    for (const double share : {1e-8, -1e-8, 9e-4, 1e-2, 10.0}) {
      const PoissonProblem problem = nearly_balanced(discretization, share);
      EXPECT_THROW(make_linear_system(problem, discretization, constant_field(0.0)),
                   IncompatibleData)
          << share;
      const LinearSystem forced =
          make_linear_system(problem, stiffness_form(problem, discretization), constant_field(0.0),
                             Imbalance::taken_off);
      EXPECT_LT(std::abs(sum(forced.b)), 1e-13 * (1.0 + share)) << share;
    }
  }
}

Discretization unit_square(Index cells, int degree) {
  return make_discretization(
      BoxMesh(2, {cells, cells, 1}, {0.0, 0.0, 0.0}, {1.0, 1.0, 0.0}),
      make_basis(degree, NodeFamily::gauss_lobatto, QuadratureRule::gauss, degree + 1));
}

bool balances(const std::function<double(double, double)>& source, Index cells, int degree) {
  PoissonProblem problem = problem_of(2, neumann(constant_field(0.0)));
  problem.source = field_of([source](double x, double y, double) { return source(x, y); });
  const Discretization mesh = unit_square(cells, degree);
  try {
    make_linear_system(problem, mesh, constant_field(0.0));
    return true;
  } catch (const IncompatibleData&) {
    return false;
  }
}

TEST(PureNeumann, DataThatBalanceAreAcceptedHoweverCoarseTheQuadratureIs) {
  constexpr double kPi = std::numbers::pi;
  for (const int degree : {1, 2, 4}) {
    for (const Index cells : {2, 5, 8, 16, 32}) {
      SCOPED_TRACE(::testing::Message() << "degree " << degree << ", " << cells << " cells");
      EXPECT_TRUE(
          balances([](double x, double) { return std::pow(std::sin(16.0 * kPi * x), 2) - 0.5; },
                   cells, degree));
      EXPECT_TRUE(balances(
          [](double x, double y) {
            return std::exp(3.0 * x + y) - std::expm1(3.0) / 3.0 * std::expm1(1.0);
          },
          cells, degree));
      // A jump and a kink inside cells, which no rule resolves.
      EXPECT_TRUE(balances([](double x, double) { return x < 0.3 ? 7.0 : -3.0; }, cells, degree));
      EXPECT_TRUE(
          balances([](double x, double) { return std::abs(x - 0.3) - 0.29; }, cells, degree));
    }
  }
}

TEST(PureNeumann, DataThatDoNotBalanceAreRefusedHoweverMuchTheyOscillate) {
  constexpr double kPi = std::numbers::pi;
  for (const int degree : {2, 4}) {
    for (const Index cells : {8, 32}) {
      SCOPED_TRACE(::testing::Message() << "degree " << degree << ", " << cells << " cells");
      EXPECT_FALSE(balances([](double x, double) { return 1.0 + 5000.0 * std::sin(2.0 * kPi * x); },
                            cells, degree));
      EXPECT_FALSE(balances([](double x, double) { return std::exp(x) - 1.7182; }, cells, degree));
      // The quadrature of the operator is off by far more than the imbalance, finer ones are not.
      EXPECT_FALSE(balances(
          [](double x, double) { return 1e-3 + std::pow(std::sin(16.0 * kPi * x), 2) - 0.5; },
          cells, degree));
    }
  }
}

// The points of finer rules are no reason to refuse what the operator's accept.
TEST(PureNeumann, SourcesThatAreInfiniteBetweenTheirPointsAreAccepted) {
  EXPECT_TRUE(balances(
      [](double x, double y) {
        const double distance = std::hypot(x - 0.5, y - 0.5);
        return distance == 0.0 ? kInfinity : (x - 0.5) / distance;
      },
      5, 1));
}

TEST(PureNeumann, NothingAtAllBalances) {
  const Discretization discretization = box_of_volume_3(3);
  const PoissonProblem problem = problem_of(3, neumann(constant_field(0.0)));
  LinearSystem system = make_linear_system(problem, discretization, constant_field(4.0));
  EXPECT_EQ(system.reference_norm, 0.0);
  EXPECT_EQ(system.balance_defect, 0.0);
  EXPECT_EQ(one_norm(system.b), 0.0);
  for (Index i = 0; i < system.x.size(); ++i) ASSERT_EQ(system.x[i], 4.0);
}

template <class F>
void expect_bad_field(F&& call, const std::string& text, double value, double least_x) {
  try {
    call();
    FAIL() << "not refused: " << text;
  } catch (const BadFieldValue& error) {
    EXPECT_THAT(error.what(), HasSubstr(text));
    EXPECT_THAT(error.what(),
                HasSubstr(fmt::format(" at ({:.6g}, {:.6g}, {:.6g})", error.where()[0],
                                      error.where()[1], error.where()[2])));
    EXPECT_GT(error.where()[0], least_x);
    if (std::isnan(value)) {
      EXPECT_TRUE(std::isnan(error.value()));
    } else {
      EXPECT_EQ(error.value(), value);
    }
  }
}

ScalarField bad_beyond(double limit, double value) {
  return field_of([=](double x, double, double) { return x > limit ? value : 1.0; });
}

TEST(BadProblemData, NonFiniteValuesAreNamedWithTheirPlace) {
  for (const int dimension : {2, 3}) {
    const Discretization discretization = test_mesh(dimension, 2, Geometry::curved);
    const auto system_of = [&](const PoissonProblem& problem) {
      return [&discretization, &problem] {
        make_linear_system(problem, discretization, constant_field(0.0));
      };
    };
    for (const double bad : {kNan, kInfinity, -kInfinity}) {
      PoissonProblem problem = mixed_problem(dimension);
      problem.source = bad_beyond(0.4, bad);
      expect_bad_field(system_of(problem), "the source is not finite", bad, 0.4);
      problem.source = constant_field(bad);
      expect_bad_field(system_of(problem), "the source is not finite", bad, -10.0);
      for (const int face : {kTop, kRight, kBottom}) {
        problem = mixed_problem(dimension);
        problem.boundary[face].value = bad_beyond(0.4, bad);
        expect_bad_field(system_of(problem), "the boundary value is not finite", bad, 0.4);
      }
    }
  }
}

TEST(BadProblemData, CoefficientsMustBePositiveWhereverTheOperatorLooks) {
  for (const int dimension : {2, 3}) {
    const Discretization discretization = test_mesh(dimension, 2, Geometry::curved);
    for (const double bad : {0.0, -0.5, kNan, kInfinity}) {
      PoissonProblem problem = mixed_problem(dimension);
      problem.coefficient = bad_beyond(0.4, bad);
      expect_bad_field(
          [&] {
            make_operator<double>({"tensor", "serial"}, stiffness_form(problem, discretization));
          },
          "coefficient", bad, 0.4);
    }
    PoissonProblem problem = mixed_problem(dimension);
    problem.boundary[kRight].alpha = bad_beyond(0.4, -1.0);
    expect_bad_field(
        [&] {
          make_operator<double>({"tensor", "serial"}, stiffness_form(problem, discretization));
        },
        "alpha", -1.0, 0.4);
  }
}

TEST(ShiftedFields, AreTheFieldLessANumber) {
  EXPECT_EQ(shifted(constant_field(3.0), 0.5).constant, 2.5);
  const ScalarField field =
      shifted(field_of([](double x, double y, double z) { return x + 10.0 * y + 100.0 * z; }), 4.0);
  EXPECT_FALSE(field.constant);
  const std::vector<double> x = {1.0, 2.0};
  const std::vector<double> y = {3.0, 5.0};
  const std::vector<double> z = {7.0, 9.0};
  std::vector<double> values(2, kNan);
  field.evaluate({2, x.data(), y.data(), z.data()}, values.data());
  EXPECT_EQ(values, (std::vector<double>{727.0, 948.0}));
}

}  // namespace
}  // namespace tessera::testing
