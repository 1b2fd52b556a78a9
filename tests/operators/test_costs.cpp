// Tests of the flops that strategies say they take, against sums done by hand.
#include <gtest/gtest.h>

#include "operators/strategy.hpp"
#include "tests/operators/problems.hpp"

namespace tessera::testing {
namespace {

constexpr double kCells = 12.0;  // of ProblemOptions in 3D

double flops(const StrategyName& strategy, const ProblemOptions& options) {
  const Problem problem = make_problem(options);
  return make_operator<double>(strategy, problem.form)->cost().flops;
}

ProblemOptions uniform(int degree) {
  return {.degree = degree, .geometry = Geometry::cartesian, .coefficient = Coefficient::constant};
}

// n = m = 3: a line takes 9 + 3 + 3, the nine products of a half and the sums of both ends.
TEST(Costs, OfTensorProducts) {
  const StrategyName tensor{"tensor", "serial"};
  EXPECT_EQ(flops(tensor, uniform(2)), kCells * 9 * (7 * 9 + 10 * 3));
  // To the points and back 27 lines; D and D^T along x and y; along z with the folded lines of B;
  // at each of 27 points 15 for the factors and 1 for the sum with what comes along y.
  const double general = 2 * 27 * 15 + 4 * 9 * 15 + 2 * 9 * 12 + 27 * (15 + 1);
  EXPECT_EQ(flops(tensor, {}), kCells * general);
  // No B, so that nothing is shared, and two sums.
  EXPECT_EQ(flops(tensor, {.rule = QuadratureRule::gauss_lobatto}),
            kCells * (6 * 9 * 15 + 27 * (15 + 2)));
  // In 2D, there and back, three lines along y by B and G, which share sums, three along x by each.
  ProblemOptions plane{.dimension = 2, .cells = {3, 2, 1}};
  EXPECT_EQ(flops(tensor, plane), 6 * (2 * (3 * 27 + 6 * 15) + 9 * 6));
  // The value at the points there and back, and its product.
  plane.reaction = Reaction::variable;
  EXPECT_EQ(flops(tensor, plane), 6 * (2 * (3 * 27 + 6 * 15) + 2 * 3 * 12 + 9 * 8));
  // Four lines in each of three places; the sums along both axes and with the reaction.
  plane.rule = QuadratureRule::gauss_lobatto;
  EXPECT_EQ(flops(tensor, plane), 6 * (4 * 3 * 15 + 9 * (8 + 2)));
  // Two products of each line along y, whose sums are shared; two sums of products along x.
  ProblemOptions equal = uniform(2);
  equal.dimension = 2;
  equal.cells = {3, 2, 1};
  EXPECT_EQ(flops(tensor, equal), 6 * 3 * (2 * (2 * 9) + 6 * 3));
  // Three coordinates to the points and along the axes; at a point 69 and the coefficient.
  EXPECT_EQ(flops({"tensor", "serial", FactorStorage::on_the_fly}, {}),
            kCells * (general + 3 * (27 * 15 + 2 * 9 * 15 + 9 * 12) + 27 * 70));
}

TEST(Costs, OfLocalMatrices) {
  EXPECT_EQ(flops({"local", "serial"}, uniform(1)), kCells * (8 * 8 + 2 * 8));
  EXPECT_EQ(flops({"local", "serial"}, {.degree = 1}), kCells * 2 * 8 * 8);
}

TEST(Costs, OfTheStencilAndTheMatrix) {
  const double nodes = 4 * 3 * 3;
  EXPECT_EQ(flops({"stencil"}, {.degree = 1}), nodes * (2 * 27 - 1));
  // A row has the nodes of its cells: 2 and 3 along an axis.
  EXPECT_EQ(flops({"csr"}, {.degree = 1, .boundary = Boundary::none}), 2.0 * (10 * 7 * 7));
}

// Halves of 2 x 2 and 1 x 1: 10 for M; 6 for K without a column, 2 for its differences.
TEST(Costs, OfKroneckerProducts) {
  const double x = 3 * 25 * (10 + 8 + 2 * 3 + 2);
  const double y = 2 * 35 * (2 * 10 + 8 + 2 * 4 + 2);
  const double z = 2 * 35 * (10 + 8 + 2 * 3 + 1);
  EXPECT_EQ(flops({"kronecker"}, uniform(2)), x + y + z);
  // Whole matrices of 3 x 3, K without a column, two differences.
  ProblemOptions graded = uniform(2);
  graded.geometry = Geometry::graded;
  const double stiffness = 2 * 6 + 2;
  EXPECT_EQ(flops({"kronecker"}, graded), 3 * 25 * (18 + stiffness + 2) +
                                              2 * 35 * (2 * 18 + stiffness + 2) +
                                              2 * 35 * (18 + stiffness + 1));
}

}  // namespace
}  // namespace tessera::testing
