// These tests make linear systems of pure Neumann problems.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numbers>
#include <vector>

#include "mesh/element/face_quadrature.hpp"
#include "mesh/errors.hpp"
#include "postprocess/error_norms.hpp"
#include "tests/cases/poisson_problems.hpp"
#include "tests/operators/reference.hpp"

namespace tessera::testing {
namespace {

using ::testing::HasSubstr;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

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

}  // namespace
}  // namespace tessera::testing
