// These tests evaluate polynomials on cells, and check that transposes are transposes.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <tuple>
#include <vector>

#include "mesh/geometry/cell_geometry.hpp"
#include "tests/mesh/meshes.hpp"

namespace tessera::testing {
namespace {

using Array = std::vector<Lanes<double>>;

Array random_array(int n, unsigned seed) {
  const std::vector<double> values = random_values(Index{n} * kLanes<double>, seed);
  Array array(static_cast<std::size_t>(n));
  for (int i = 0; i < n; ++i) {
    for (int lane = 0; lane < kLanes<double>; ++lane) {
      array[i][lane] = values[i * kLanes<double> + lane];
    }
  }
  return array;
}

Array poisoned_array(int n) {
  return Array(static_cast<std::size_t>(n), broadcast(std::numeric_limits<double>::quiet_NaN()));
}

struct Gradient {
  std::array<Array, 3> values;

  explicit Gradient(int n) : values{poisoned_array(n), poisoned_array(n), poisoned_array(n)} {}
  std::array<Lanes<double>*, 3> pointers() {
    return {values[0].data(), values[1].data(), values[2].data()};
  }
};

// sum_i a_i b_i, each lane by itself.
Lanes<double> inner(const Array& a, const Array& b) {
  Lanes<double> sum{};
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

void expect_near(const Lanes<double>& a, const Lanes<double>& b, double tolerance) {
  for (int lane = 0; lane < kLanes<double>; ++lane) {
    EXPECT_NEAR(a[lane], b[lane], tolerance) << "lane " << lane;
  }
}

// A polynomial of degree p in each variable; lanes have different ones.
double polynomial(const Eigen::Vector3d& x, int p, int lane) {
  const double shift = 0.3 + 0.1 * lane;
  return std::pow(x[0] + shift, p) * (1.0 + 0.5 * std::pow(x[1], p)) * (2.0 - std::pow(x[2], p)) +
         x[1] - 0.5 * x[2];
}

double derivative(const Eigen::Vector3d& x, int p, int lane, int axis) {
  const double shift = 0.3 + 0.1 * lane;
  const double fx = std::pow(x[0] + shift, p);
  const double fy = 1.0 + 0.5 * std::pow(x[1], p);
  const double fz = 2.0 - std::pow(x[2], p);
  if (axis == 0) return p * std::pow(x[0] + shift, p - 1) * fy * fz;
  if (axis == 1) return fx * 0.5 * p * std::pow(x[1], p - 1) * fz + 1.0;
  return -fx * fy * p * std::pow(x[2], p - 1) - 0.5;
}

struct Size {
  int dimension;
  int degree;
  int points;
};

class Evaluators : public ::testing::TestWithParam<Size> {
 protected:
  int dimension_ = GetParam().dimension;
  int p_ = GetParam().degree;
  Basis1D basis_ =
      make_basis(p_, NodeFamily::gauss_lobatto, QuadratureRule::gauss, GetParam().points);
  CellEvaluator evaluator_{basis_, dimension_};
  int nodes_ = static_cast<int>(power(p_ + 1, dimension_));
  int points_ = static_cast<int>(power(GetParam().points, dimension_));

  Array nodal_polynomial() const {
    Array u(static_cast<std::size_t>(nodes_));
    for (int i = 0; i < nodes_; ++i) {
      for (int lane = 0; lane < kLanes<double>; ++lane) {
        u[i][lane] = polynomial(reference_point(basis_.nodes, dimension_, i), p_, lane);
      }
    }
    return u;
  }
};

TEST_P(Evaluators, ValuesAndGradientsOfPolynomialsOfTheDegreeAreExact) {
  ASSERT_EQ(evaluator_.nodes_per_cell(), nodes_);
  ASSERT_EQ(evaluator_.points_per_cell(), points_);
  const Array u = nodal_polynomial();
  Array values = poisoned_array(points_);
  evaluator_.values(u.data(), values.data());
  Gradient gradient(points_);
  evaluator_.gradient(u.data(), gradient.pointers());
  Gradient differentiated(points_);
  evaluator_.differentiate(values.data(), differentiated.pointers());
  double scale = 0.0;
  for (const auto& value : u) scale = std::max(scale, std::abs(value[kLanes<double> - 1]));
  for (int q = 0; q < points_; ++q) {
    const Eigen::Vector3d xi = reference_point(basis_.quadrature.points, dimension_, q);
    for (int lane = 0; lane < kLanes<double>; ++lane) {
      ASSERT_NEAR(values[q][lane], polynomial(xi, p_, lane), 1e-13 * scale);
      for (int a = 0; a < dimension_; ++a) {
        const double exact = derivative(xi, p_, lane, a);
        ASSERT_NEAR(gradient.values[a][q][lane], exact, 1e-12 * scale * (p_ + 1) * (p_ + 1));
        ASSERT_NEAR(differentiated.values[a][q][lane], exact, 1e-12 * scale * (p_ + 1) * (p_ + 1));
      }
    }
  }
}

TEST_P(Evaluators, IntegrationIsTheTransposeOfEvaluation) {
  const Array u = random_array(nodes_, 3);
  const Array w = random_array(points_, 5);
  Array values = poisoned_array(points_);
  evaluator_.values(u.data(), values.data());
  Array integrated = poisoned_array(nodes_);
  evaluator_.integrate_values(w.data(), integrated.data());
  expect_near(inner(values, w), inner(u, integrated), 1e-13 * (nodes_ + points_));
}

TEST_P(Evaluators, IntegrationOfGradientsAddsTheTransposeOfTheGradient) {
  const Array u = random_array(nodes_, 7);
  Gradient gradient(points_);
  evaluator_.gradient(u.data(), gradient.pointers());
  Gradient w(points_);
  Lanes<double> expected{};
  double scale = 1.0;
  for (int a = 0; a < dimension_; ++a) {
    w.values[a] = random_array(points_, 11 + a);
    expected += inner(gradient.values[a], w.values[a]);
    for (const auto& value : gradient.values[a]) scale += std::abs(value[0]);
  }
  Array integrated = random_array(nodes_, 23);
  expected += inner(u, integrated);
  evaluator_.add_integrated_gradient(w.pointers(), integrated.data());
  expect_near(expected, inner(u, integrated), 1e-13 * scale);
}

// Sizes on both sides of what is unrolled, and points far from nodes.
INSTANTIATE_TEST_SUITE_P(Sizes, Evaluators,
                         ::testing::Values(Size{2, 1, 2}, Size{2, 1, 5}, Size{2, 2, 4},
                                           Size{2, 7, 8}, Size{2, 8, 10}, Size{2, 9, 12},
                                           Size{2, 12, 13}, Size{2, 3, 48}, Size{3, 1, 2},
                                           Size{3, 1, 3}, Size{3, 2, 3}, Size{3, 3, 6},
                                           Size{3, 6, 7}, Size{3, 10, 12}),
                         [](const auto& tested) {
                           return std::to_string(tested.param.dimension) + "dDegree" +
                                  std::to_string(tested.param.degree) + "Points" +
                                  std::to_string(tested.param.points);
                         });

TEST(GatheredCells, HaveTheNodesOfTheirCellsInOrder) {
  for (const int dimension : {2, 3}) {
    const BoxMesh mesh = general_box(dimension, {3, 4, 2});
    const NodeLattice lattice(mesh, 2);
    std::vector<double> x(static_cast<std::size_t>(lattice.size()));
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<double>(i);
    const std::vector<IndexTriple> cells = {{2, 1, dimension - 2}, {0, 3, 0}};
    Array u = poisoned_array(lattice.nodes_per_cell());
    gather_cells(lattice, cells, x.data(), u.data());
    for (int i = 0; i < lattice.nodes_per_cell(); ++i) {
      const IndexTriple local = {i % 3, i / 3 % 3, i / 9};
      for (int lane = 0; lane < kLanes<double>; ++lane) {
        const IndexTriple& cell = cells[std::min(lane, 1)];
        const Index node = lattice.node_index(
            {2 * cell[0] + local[0], 2 * cell[1] + local[1], 2 * cell[2] + local[2]});
        ASSERT_EQ(u[i][lane], static_cast<double>(node)) << "node " << i << " lane " << lane;
      }
    }
  }
}

TEST(TensorWeights, AreProductsXFastest) {
  const Quadrature quadrature{{0.1, 0.2, 0.3}, {2.0, 3.0, 5.0}};
  const std::vector<double> weights = tensor_weights(quadrature, 3);
  ASSERT_EQ(weights.size(), 27u);
  for (int q = 0; q < 27; ++q) {
    EXPECT_EQ(weights[q], quadrature.weights[q % 3] * quadrature.weights[q / 3 % 3] *
                              quadrature.weights[q / 9]);
  }
  EXPECT_EQ(tensor_weights(quadrature, 2).size(), 9u);
}

}  // namespace
}  // namespace tessera::testing
