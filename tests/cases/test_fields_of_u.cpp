// These tests evaluate expressions that depend on the solution, and their derivatives in it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include "cases/problem/natural_units.hpp"
#include "cases/problem/poisson_problem.hpp"
#include "cases/problem/time_field.hpp"
#include "mesh/field/program_field.hpp"
#include "mesh/geometry/frame.hpp"

namespace tessera::testing {
namespace {

using ::testing::HasSubstr;

double value(const ScalarField& field, const Point& at, double u) {
  double result = std::nan("");
  field.evaluate({1, at.data(), &at[1], &at[2], &u}, &result);
  return result;
}

ScalarField field_of_u(const std::string& text) {
  return read_expression(text, 3, Variables::position_and_u)->field;
}

std::string message(const std::string& text, Variables variables) {
  try {
    read_expression(text, 3, variables);
  } catch (const ExpressionError& error) {
    return error.what();
  }
  ADD_FAILURE() << "\"" << text << "\" was accepted";
  return "";
}

TEST(FieldsOfU, HaveTheDerivativesThatDifferencesTendTo) {
  constexpr double kStep = 1e-5;
  std::mt19937_64 random(5);
  std::uniform_real_distribution<double> uniform(0.1, 0.9);
  for (const char* text :
       {"u", "1 + u^2", "exp(-u*x)", "u^x", "x^u", "sqrt(u)*log(1 + u)", "min(u, x)", "abs(u - y)",
        "u < 0.5 ? u^2 : u - 0.25", "atan2(u, x)", "1/(1 + u*u)", "x*y*u^4", "max(u, 0.5, x)",
        "u*(1 - u)", "tanh((u - 0.5)/0.1)", "avg(u, x, y)"}) {
    const ScalarField field = field_of_u(text);
    const ScalarField derivative = derivative_in_u(field);
    EXPECT_TRUE(field.depends_on_u);
    EXPECT_FALSE(field.constant);
    EXPECT_NE(field.program, nullptr);
    for (int i = 0; i < 50; ++i) {
      const Point at = {uniform(random), uniform(random), uniform(random)};
      const double u = uniform(random);
      const double difference =
          (value(field, at, u + kStep) - value(field, at, u - kStep)) / (2.0 * kStep);
      const double exact = value(derivative, at, u);
      EXPECT_NEAR(difference, exact, 2e-6 * (1.0 + std::abs(exact))) << text << " at u = " << u;
    }
  }
}

TEST(FieldsOfU, OfManyPointsAreThoseOfEach) {
  constexpr std::size_t kPoints = 1000;
  std::vector<double> u(kPoints);
  for (std::size_t i = 0; i < kPoints; ++i) u[i] = static_cast<double>(i) / kPoints;
  const std::vector<double> zero(kPoints, 0.0);
  const ScalarField field = field_of_u("exp(2*u) + x");
  std::vector<double> values(kPoints);
  field.evaluate({kPoints, zero.data(), zero.data(), zero.data(), u.data()}, values.data());
  for (std::size_t i = 0; i < kPoints; ++i) EXPECT_EQ(values[i], value(field, {}, u[i]));
  derivative_in_u(field).evaluate({kPoints, zero.data(), zero.data(), zero.data(), u.data()},
                                  values.data());
  for (std::size_t i = 0; i < kPoints; ++i)
    EXPECT_NEAR(values[i], 2.0 * std::exp(2.0 * u[i]), 1e-14);
}

TEST(FieldsOfU, WithoutUHaveTheDerivativeZero) {
  EXPECT_FALSE(field_of_u("x*y").depends_on_u);
  EXPECT_NE(field_of_u("x*y").factors, nullptr);
  EXPECT_EQ(derivative_in_u(field_of_u("x*y")).constant, 0.0);
  EXPECT_EQ(derivative_in_u(field_of_u("3")).constant, 0.0);
}

TEST(FieldsOfU, AreNotEvaluatedWhereItIsNotKnown) {
  const Point at = {0.5, 0.5, 0.5};
  const PointBlock points{1, at.data(), &at[1], &at[2]};
  double result = 0.0;
  const ScalarField field = field_of_u("min(u, 2)");
  EXPECT_THROW(field.evaluate(points, &result), std::invalid_argument);
  EXPECT_THROW(derivative_in_u(field).evaluate(points, &result), std::invalid_argument);
  const Frame frame{{1.0, 2.0, 3.0}, 4.0};
  EXPECT_THROW(in_frame(field, frame, 2.0).evaluate(points, &result), std::invalid_argument);
  ScalarField unknown = field;
  unknown.program = nullptr;
  EXPECT_THROW(derivative_in_u(unknown), std::invalid_argument);
}

TEST(FieldsOfU, FollowTheirFrameAndUnits) {
  const Frame frame{{1.0, 2.0, 3.0}, 4.0};
  const Point X = {0.25, -0.5, 0.125};
  const Point x = frame.physical(X);
  const ScalarField field = in_frame(field_of_u("x*u^2 + y"), frame, 8.0, 2.0);
  EXPECT_TRUE(field.depends_on_u);
  EXPECT_EQ(value(field, X, 1.5), (x[0] * 9.0 + x[1]) / 8.0);
  EXPECT_EQ(value(program_field(*field.program), X, 1.5), (x[0] * 9.0 + x[1]) / 8.0);
  // By u in its unit.
  EXPECT_EQ(value(derivative_in_u(field), X, 1.5), 2.0 * x[0] * 2.0 * 3.0 / 8.0);
  const ScalarField unmoved = in_frame(field_of_u("u^2"), Frame{}, 1.0, 4.0);
  EXPECT_EQ(value(unmoved, {}, 3.0), 144.0);
}

TEST(FieldsOfU, StaySoInSumsAndMultiples) {
  const ScalarField field = field_of_u("u^2");
  for (const ScalarField& one : {shifted(field, 1.0), scaled(field, 3.0),
                                 sum(constant_field(2.0), field, 0.5), sum(field, field, 1.0)}) {
    EXPECT_TRUE(one.depends_on_u);
  }
  EXPECT_EQ(value(derivative_in_u(shifted(field, 1.0)), {}, 3.0), 6.0);
  EXPECT_EQ(value(derivative_in_u(scaled(field, 2.0)), {}, 3.0), 12.0);
  EXPECT_EQ(value(sum(constant_field(2.0), field, 0.5), {}, 3.0), 6.5);
}

TEST(FieldsOfU, InTimeHaveRatesAtItsValue) {
  const TimeField field("t^2*u + u", 3, Variables::position_time_and_u);
  EXPECT_TRUE(field.depends_on_time());
  EXPECT_TRUE(field.depends_on_u());
  EXPECT_EQ(value(field.at(3.0), {}, 2.0), 20.0);
  EXPECT_EQ(value(derivative_in_u(field.at(3.0)), {}, 2.0), 10.0);
  EXPECT_TRUE(field.rate_at(3.0).depends_on_u);
  EXPECT_EQ(value(field.rate_at(3.0), {}, 2.0), 12.0);
  EXPECT_FALSE(TimeField("t*x", 3, Variables::position_time_and_u).depends_on_u());
}

TEST(FieldsOfU, HaveNaturalUnitsAtATypicalSolution) {
  const BoxMesh mesh(2, {2, 2, 1}, {0.0, 0.0, 0.0}, {1.0, 1.0, 0.0});
  const NodeLattice lattice(mesh, 1);
  const Basis1D basis = make_basis(1, NodeFamily::gauss_lobatto, QuadratureRule::gauss, 2);
  const Discretization discretization{mesh, basis, lattice, Mapping(mesh, lattice, basis.nodes)};
  PoissonProblem problem;
  problem.dimension = 2;
  problem.coefficient = field_of_u("u^2");
  EXPECT_EQ(natural_units(problem, discretization, constant_field(4.0)).coefficient, 16.0);
  // k = 0 says nothing about its size.
  EXPECT_EQ(natural_units(problem, discretization).coefficient, 1.0);
}

TEST(FieldsOfU, AreAllowedWhereTheCaseIsNonLinear) {
  const std::string expected =
      "unknown name \"u\" at character 3; u is the solution, on which problem.coefficient and "
      "problem.source, and nothing else, may depend in a case with the table [nonlinear]";
  EXPECT_EQ(message("x*u", Variables::position), expected);
  EXPECT_EQ(message("x*u", Variables::position_and_time), expected);
  EXPECT_THAT(message("u*r", Variables::position_and_u), HasSubstr("known are x, y, z, u, pi"));
  EXPECT_THAT(message("u*r", Variables::position_time_and_u),
              HasSubstr("known are x, y, z, t, u, pi"));
  EXPECT_THAT(message("u*t", Variables::position_and_u), HasSubstr("[time]"));
}

}  // namespace
}  // namespace tessera::testing
