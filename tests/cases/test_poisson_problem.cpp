// These tests make linear systems of boundary value problems.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "mesh/element/face_quadrature.hpp"
#include "mesh/errors.hpp"
#include "operators/load/load_vector.hpp"
#include "postprocess/error_norms.hpp"
#include "tests/cases/poisson_problems.hpp"
#include "tests/operators/reference.hpp"

namespace tessera::testing {
namespace {

using ::testing::HasSubstr;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

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

template <class F>
void expect_bad_field(F&& call, const std::string& text, double value, double min_x) {
  try {
    call();
    FAIL() << "not refused: " << text;
  } catch (const BadFieldValue& error) {
    EXPECT_THAT(error.what(), HasSubstr(text));
    EXPECT_THAT(error.what(),
                HasSubstr(fmt::format(" at ({:.6g}, {:.6g}, {:.6g})", error.where()[0],
                                      error.where()[1], error.where()[2])));
    EXPECT_GT(error.where()[0], min_x);
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
