// These tests split expressions into factors of one coordinate each.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <numbers>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "cases/expression/expression.hpp"
#include "cases/expression/tree.hpp"
#include "mesh/field/program_field.hpp"
#include "mesh/index.hpp"

namespace tessera::testing {
namespace {

double value(const ScalarField& field, const Point& at) {
  double result = std::nan("");
  field.evaluate({1, at.data(), &at[1], &at[2]}, &result);
  return result;
}

// Away from 0, of either sign.
std::vector<Point> random_points() {
  std::mt19937_64 generator(47);
  std::uniform_real_distribution<double> size(0.2, 1.9);
  std::vector<Point> points(50);
  for (Point& point : points) {
    for (double& x : point) x = generator() % 2 == 0 ? size(generator) : -size(generator);
  }
  return points;
}

void expect_factors(const std::string& text, int dimension = 3) {
  SCOPED_TRACE(text);
  const ScalarField field = parse_expression(text, dimension);
  ASSERT_NE(field.factors, nullptr);
  const std::array<ScalarField, 3>& factors = *field.factors;
  for (Point at : random_points()) {
    if (dimension == 2) at[2] = 0.0;
    double product = 1.0;
    for (int d = 0; d < 3; ++d) {
      EXPECT_EQ(factors[d].factors, nullptr);
      const double factor = value(factors[d], at);
      // Other coordinates do not matter.
      Point elsewhere = {7.1, -8.3, 9.7};
      elsewhere[d] = at[d];
      EXPECT_EQ(value(factors[d], elsewhere), factor) << "axis " << d;
      EXPECT_EQ(factors[d].constant.value_or(factor), factor);
      product *= factor;
    }
    const double expected = value(field, at);
    EXPECT_NEAR(product, expected, 1e-15 * std::abs(expected));
  }
}

TEST(SeparableExpressions, HaveFactorsWhoseProductTheyAre) {
  for (const char* text : {"exp(x)*(1+y^2)/z",
                           "2*(1+x)",
                           "x*y^2",
                           "-x*y",
                           "x/y*z",
                           "x/(y*z)",
                           "2^x*y",
                           "(x)*(y)",
                           "(x*y)",
                           "x*-y",
                           "1e-3*x",
                           "x*1E-3*y",
                           "1.5e+2*y/x",
                           "x*y*z",
                           "((x*y)*((z)))",
                           "-(x*y)*z",
                           "-(-(x*y))",
                           "+x*+y",
                           "x/(y/z)",
                           "x/(y/(z*x))",
                           "x*y/x",
                           "x/-y*z",
                           "x/-(y*z)",
                           "x^-2*y",
                           "2^-x*y",
                           "-x^2*-y^2",
                           "x*-y^2/z",
                           "x*(y*(z*(2)))",
                           "x*y*2/3",
                           "  exp( -x/2 ) *\n (1 + y)\t",
                           "(x > 0.5 ? 1 : 10)*(y < 0 ? 2 : 3)",
                           "sin(x)*log2(2)*y",
                           "sqrt(abs(x))*sqrt(abs(z))",
                           "(1 + x)*(2 + sin(pi*y))*exp(z)*x^2",
                           "min(x, 2)*max(y, -1, 0)",
                           "x == 1 ? 2 : 3",
                           "1 + x + x^2",
                           "x - 2",
                           "z > 1 && z < 2 || z > 3 ? 0.1 : 1",
                           "abs(x)^x*y",
                           "(x + 1)/(y - 3)/(z + 4)",
                           "x*.5*y",
                           "x*(pi)*y/(2*pi)"}) {
    expect_factors(text);
  }
  for (const char* text : {"x*y", "exp(x)/(2 + y)", "y", "-2*x"}) expect_factors(text, 2);
}

TEST(SeparableExpressions, WithoutAProductHaveNone) {
  for (const char* text : {"1+x*y",
                           "x*y+1",
                           "exp(x+y)",
                           "x+y",
                           "x-y",
                           "x*y-z",
                           "(x + y)*z",
                           "x^y",
                           "(x*y)^2",
                           "2^(x*y)",
                           "sin(x*y)",
                           "x*y < 1",
                           "x > 0 ? y : 1",
                           "x*(y > 0 ? z : 1)",
                           "x && y",
                           "x*y == 0",
                           "x/(y + z)",
                           "-(x + y)",
                           "(x)+(y)",
                           "(x)*(y)+(z)",
                           "x*y*(z + 1 - x)",
                           "x - y*z",
                           "1 - -x*y",
                           "x*y^z",
                           "min(x, y)"}) {
    EXPECT_EQ(parse_expression(text, 3).factors, nullptr) << text;
  }
}

TEST(SeparableExpressions, ConstantsHaveNone) {
  for (const char* text : {"2", "2*pi", "-(1 + 1)/3"}) {
    const ScalarField field = parse_expression(text, 3);
    EXPECT_TRUE(field.constant) << text;
    EXPECT_EQ(field.factors, nullptr) << text;
  }
}

TEST(SeparableExpressions, HaveConstantFactorsOfCoordinatesThatDoNotOccur) {
  const ScalarField field = parse_expression("3*y/4*z", 3);
  ASSERT_NE(field.factors, nullptr);
  EXPECT_EQ((*field.factors)[0].constant, 1.0);
  EXPECT_EQ(value((*field.factors)[1], {0.0, 2.0, 0.0}), 1.5);
  EXPECT_EQ((*parse_expression("3*y", 3).factors)[2].constant, 1.0);
  // Known to be constant only as written.
  EXPECT_FALSE((*parse_expression("0*x", 3).factors)[0].constant);
}

// The factors of a text, each with the values that it has at a point.
std::optional<std::array<double, 3>> factors_of(const std::string& text, const Point& at) {
  ExpressionTree tree(text);
  const auto nodes = tree.factors();
  if (!nodes) return std::nullopt;
  std::array<double, 3> values;
  for (int d = 0; d < 3; ++d) values[d] = value(program_field(tree.program((*nodes)[d])), at);
  return values;
}

TEST(FactorsOfExpressions, AreThoseOfTheAxes) {
  const auto [x, y, z] = Point{0.3, -1.7, 2.25};
  const auto factors = factors_of("2*exp(x)*(1 + y^2)/z/y", {x, y, z});
  ASSERT_TRUE(factors);
  EXPECT_DOUBLE_EQ((*factors)[0], 2.0 * std::exp(x));
  EXPECT_DOUBLE_EQ((*factors)[1], (1.0 + y * y) / y);
  EXPECT_DOUBLE_EQ((*factors)[2], 1.0 / z);
  EXPECT_EQ(factors_of("x", {x, y, z}), (std::array<double, 3>{x, 1.0, 1.0}));
}

// As many as a text has room for, at the cost of reading them.
TEST(FactorsOfExpressions, AreFoundBehindThousandsOfParentheses) {
  const Point at = {0.5, -1.25, 3.0};
  const std::string open(9000, '(');
  const std::string close(9000, ')');
  EXPECT_EQ(factors_of(open + "x*y" + close, at), (std::array<double, 3>{0.5, -1.25, 1.0}));
  EXPECT_FALSE(factors_of(open + "x+y" + close, at));
  std::string nested = "x*y";
  for (int i = 0; i < 4000; ++i) nested = "z/(" + nested + ")";
  const auto factors = factors_of(nested, at);
  ASSERT_TRUE(factors);
  EXPECT_DOUBLE_EQ((*factors)[0], 0.5);
  EXPECT_DOUBLE_EQ((*factors)[1], -1.25);
  EXPECT_DOUBLE_EQ((*factors)[2], 1.0);
}

}  // namespace
}  // namespace tessera::testing
