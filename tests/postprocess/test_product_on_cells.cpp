// These tests hold norms of errors against products to those against the same fields as they are.
#include <gtest/gtest.h>

#include <cmath>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "cases/expression/expression.hpp"
#include "postprocess/error_norms.hpp"
#include "postprocess/product_on_cells.hpp"
#include "tests/operators/problems.hpp"
#include "tests/random_values.hpp"

namespace tessera::testing {
namespace {

Problem problem_with(Geometry geometry, int dimension) {
  // 7 and 5 cells: the last batch is not full, and lanes have cells of several rows.
  return make_problem(
      {.dimension = dimension, .degree = 3, .cells = {7, 5, 2}, .geometry = geometry});
}

std::optional<ProductOnCells> product_of(const Problem& problem, const ScalarField& field) {
  const std::vector<double> points = {0.25, 0.5, 0.75};
  return ProductOnCells::of(*problem.discretization, points, field);
}

const std::vector<std::string>& products(int dimension) {
  static const std::vector<std::string> in_2d = {"exp(x)*sin(3*y)", "cos(2*x)", "y^3",
                                                 "2*x*(1 - y)"};
  static const std::vector<std::string> in_3d = {"exp(x)*sin(3*y)*(1 + z^2)", "x*cos(z)", "sin(z)",
                                                 "-3*(x - 1)*y*z/2"};
  return dimension == 2 ? in_2d : in_3d;
}

class ProductsOnCells : public ::testing::TestWithParam<std::tuple<int, Geometry>> {};

TEST_P(ProductsOnCells, GiveTheNormsOfTheFieldAsItIs) {
  const auto [dimension, geometry] = GetParam();
  const Problem problem = problem_with(geometry, dimension);
  const std::vector<double> u = random_values(problem.size(), 5);
  for (const std::string& text : products(dimension)) {
    const ScalarField product = parse_expression(text, dimension);
    ASSERT_NE(product.factors, nullptr) << text;
    EXPECT_EQ(product_of(problem, product).has_value(), geometry != Geometry::curved) << text;
    ScalarField whole = product;
    whole.factors = nullptr;
    EXPECT_FALSE(product_of(problem, whole)) << text;
    const ErrorNorms by_factors = error_norms(*problem.discretization, u, product);
    const ErrorNorms as_it_is = error_norms(*problem.discretization, u, whole);
    EXPECT_NEAR(by_factors.l2, as_it_is.l2, 1e-13 * as_it_is.l2) << text;
    EXPECT_NEAR(by_factors.h1_seminorm, as_it_is.h1_seminorm, 1e-13 * as_it_is.h1_seminorm) << text;
    EXPECT_EQ(by_factors.max, as_it_is.max) << text;
  }
}

std::string name_of(const ::testing::TestParamInfo<std::tuple<int, Geometry>>& test) {
  const auto [dimension, geometry] = test.param;
  const std::string axes = std::to_string(dimension) + "d";
  return axes + (geometry == Geometry::cartesian ? "Uniform"
                 : geometry == Geometry::graded  ? "Graded"
                                                 : "Curved");
}

INSTANTIATE_TEST_SUITE_P(Meshes, ProductsOnCells,
                         ::testing::Combine(::testing::Values(2, 3),
                                            ::testing::Values(Geometry::cartesian, Geometry::graded,
                                                              Geometry::curved)),
                         name_of);

// The field says itself where it is not known.
TEST(FactorsOfProducts, AreNotTakenWhereOneIsNotFinite) {
  const Problem problem = problem_with(Geometry::cartesian, 3);
  double least = 0.0;
  double z = 0.0;
  problem.discretization->mapping.node_positions(0, 1, &least, &z, &z);
  const std::string beyond = std::to_string(least + 0.1);
  EXPECT_TRUE(product_of(problem, parse_expression("sqrt(x + 100)*y", 3)));
  EXPECT_FALSE(product_of(problem, parse_expression("sqrt(x - (" + beyond + "))*y", 3)));
  EXPECT_FALSE(product_of(problem, parse_expression("x + y", 3)));
}

}  // namespace
}  // namespace tessera::testing
