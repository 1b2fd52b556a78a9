// These tests hold 1D bases to the properties of Lagrange polynomials.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>
#include <tuple>
#include <vector>

#include "mesh/element/basis_1d.hpp"

namespace tessera::testing {
namespace {

using FamilyAndDegree = std::tuple<NodeFamily, int>;

class Bases : public ::testing::TestWithParam<FamilyAndDegree> {
 protected:
  NodeFamily family_ = std::get<0>(GetParam());
  int p_ = std::get<1>(GetParam());
  std::vector<double> nodes_ = make_nodes(family_, p_);
  // Both rules, with p + 1 points and with more.
  std::vector<Basis1D> bases_ = {make_basis(p_, family_, QuadratureRule::gauss, p_ + 1),
                                 make_basis(p_, family_, QuadratureRule::gauss, p_ + 2),
                                 make_basis(p_, family_, QuadratureRule::gauss_lobatto, p_ + 1),
                                 make_basis(p_, family_, QuadratureRule::gauss_lobatto, p_ + 4)};
};

TEST_P(Bases, NodesIncreaseFromZeroToOne) {
  ASSERT_EQ(nodes_.size(), static_cast<std::size_t>(p_ + 1));
  EXPECT_EQ(nodes_.front(), 0.0);
  EXPECT_EQ(nodes_.back(), 1.0);
  for (int i = 1; i <= p_; ++i) EXPECT_LT(nodes_[i - 1], nodes_[i]);
  for (int i = 0; i <= p_; ++i) EXPECT_NEAR(nodes_[i] + nodes_[p_ - i], 1.0, 1.2e-16);
}

// Interior Gauss-Lobatto nodes are the roots of P_p'.
TEST_P(Bases, NodesAreThoseOfTheFamily) {
  for (int i = 1; i < p_; ++i) {
    if (family_ == NodeFamily::equidistant) {
      EXPECT_NEAR(nodes_[i], static_cast<double>(i) / p_, 1e-16);
      continue;
    }
    const double t = 2.0 * nodes_[i] - 1.0;
    double previous = 1.0;
    double value = t;
    for (int m = 1; m < p_; ++m) {
      const double next = ((2 * m + 1) * t * value - m * previous) / (m + 1);
      previous = value;
      value = next;
    }
    EXPECT_NEAR(p_ * (previous - t * value), 0.0, 1e-13 * p_) << "node " << i;
  }
}

TEST_P(Bases, TablesHaveTheirShapes) {
  for (const Basis1D& basis : bases_) {
    const int points = basis.point_count();
    EXPECT_EQ(basis.degree, p_);
    EXPECT_EQ(basis.node_count(), p_ + 1);
    EXPECT_EQ(basis.nodes, nodes_);
    EXPECT_EQ(basis.quadrature.points, make_quadrature(basis.rule, points).points);
    for (const Matrix1D* matrix : {&basis.B, &basis.G}) {
      EXPECT_EQ(matrix->rows, points);
      EXPECT_EQ(matrix->columns, p_ + 1);
    }
    EXPECT_EQ(basis.D.rows, points);
    EXPECT_EQ(basis.D.columns, points);
  }
}

// With u = x and v = x (1 - x), int uu = 1/3, int uv = 1/12, int u'u' = 1, int u'v' = 0.
TEST_P(Bases, WeightedProductsAreTheMatricesOfACell) {
  for (const Basis1D& basis : bases_) {
    if (basis.rule == QuadratureRule::gauss_lobatto && basis.point_count() == basis.node_count()) {
      continue;  // not exact for the mass matrix
    }
    const Matrix1D M = weighted_product(basis.B, basis.quadrature.weights);
    const Matrix1D K = weighted_product(basis.G, basis.quadrature.weights, 2.0);
    ASSERT_EQ(M.rows, basis.node_count());
    ASSERT_EQ(K.columns, basis.node_count());
    double mass[2] = {};
    double stiffness[2] = {};
    for (int i = 0; i < basis.node_count(); ++i) {
      for (int j = 0; j < basis.node_count(); ++j) {
        const double u = nodes_[i];
        const double v = nodes_[j] * (1.0 - nodes_[j]);
        mass[0] += u * M(i, j) * nodes_[j];
        mass[1] += u * M(i, j) * v;
        stiffness[0] += u * K(i, j) * nodes_[j];
        stiffness[1] += u * K(i, j) * v;
      }
    }
    EXPECT_NEAR(mass[0], 1.0 / 3.0, 1e-12);
    EXPECT_NEAR(stiffness[0], 2.0, 1e-9);
    EXPECT_NEAR(stiffness[1], 0.0, 1e-9);
    // Degree 1 has no x (1 - x): it is 0 at both nodes.
    EXPECT_NEAR(mass[1], p_ > 1 ? 1.0 / 12.0 : 0.0, 1e-12);
  }
}

TEST_P(Bases, ArePartitionsOfUnity) {
  for (const Basis1D& basis : bases_) {
    for (int q = 0; q < basis.point_count(); ++q) {
      double value = 0.0;
      double derivative = 0.0;
      double largest = 0.0;
      for (int i = 0; i <= p_; ++i) {
        value += basis.B(q, i);
        derivative += basis.G(q, i);
        largest = std::max(largest, std::abs(basis.G(q, i)));
      }
      EXPECT_NEAR(value, 1.0, 1e-12);
      EXPECT_NEAR(derivative, 0.0, 1e-13 * largest);
    }
  }
}

TEST_P(Bases, FunctionsAreOneAtTheirNodeAndZeroAtOthers) {
  const Matrix1D at_nodes = lagrange_values(nodes_, nodes_);
  for (int a = 0; a <= p_; ++a) {
    for (int i = 0; i <= p_; ++i) EXPECT_EQ(at_nodes(a, i), a == i ? 1.0 : 0.0);
  }
}

TEST_P(Bases, ValuesAndDerivativesOfPolynomialsUpToTheDegreeAreExact) {
  for (const Basis1D& basis : bases_) {
    for (int k = 0; k <= p_; ++k) {
      for (int q = 0; q < basis.point_count(); ++q) {
        const double x = basis.quadrature.points[q];
        double value = 0.0;
        double derivative = 0.0;
        double differentiated = 0.0;
        for (int i = 0; i <= p_; ++i) {
          value += basis.B(q, i) * std::pow(nodes_[i], k);
          derivative += basis.G(q, i) * std::pow(nodes_[i], k);
        }
        for (int r = 0; r < basis.point_count(); ++r) {
          differentiated += basis.D(q, r) * std::pow(basis.quadrature.points[r], k);
        }
        const double exact = k == 0 ? 0.0 : k * std::pow(x, k - 1);
        EXPECT_NEAR(value, std::pow(x, k), 1e-12) << "x^" << k << " at " << x;
        EXPECT_NEAR(derivative, exact, 1e-11 * (p_ + 1)) << "x^" << k << " at " << x;
        EXPECT_NEAR(differentiated, exact, 1e-11 * (p_ + 1)) << "x^" << k << " at " << x;
      }
    }
  }
}

TEST_P(Bases, DerivativesAreDifferentiatedValues) {
  for (const Basis1D& basis : bases_) {
    for (int q = 0; q < basis.point_count(); ++q) {
      for (int i = 0; i <= p_; ++i) {
        double product = 0.0;
        double scale = 1.0;
        for (int r = 0; r < basis.point_count(); ++r) {
          product += basis.D(q, r) * basis.B(r, i);
          scale += std::abs(basis.D(q, r) * basis.B(r, i));
        }
        EXPECT_NEAR(product, basis.G(q, i), 1e-13 * scale);
      }
    }
  }
}

TEST_P(Bases, AreCollocatedWherePointsAreTheNodes) {
  for (const Basis1D& basis : bases_) {
    const bool expected = family_ == NodeFamily::gauss_lobatto &&
                          basis.rule == QuadratureRule::gauss_lobatto &&
                          basis.point_count() == p_ + 1;
    EXPECT_EQ(is_collocated(basis), expected);
    if (!expected) continue;
    for (int q = 0; q <= p_; ++q) {
      for (int i = 0; i <= p_; ++i) EXPECT_EQ(basis.B(q, i), q == i ? 1.0 : 0.0);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Families, Bases,
                         ::testing::Combine(::testing::Values(NodeFamily::gauss_lobatto,
                                                              NodeFamily::equidistant),
                                            ::testing::Values(1, 2, 3, 4, 5, 6, 7, 8, 12)),
                         [](const auto& tested) {
                           return (std::get<0>(tested.param) == NodeFamily::equidistant
                                       ? "EquidistantDegree"
                                       : "GaussLobattoDegree") +
                                  std::to_string(std::get<1>(tested.param));
                         });

TEST(LagrangeTables, AreThoseOfAnyNodesAndPoints) {
  const std::vector<double> nodes = {0.0, 0.25, 1.0};
  const std::vector<double> points = {0.5, 2.0};
  const Matrix1D values = lagrange_values(nodes, points);
  const Matrix1D derivatives = lagrange_derivatives(nodes, points);
  // l_0 = 4 (x - 1/4)(x - 1), l_1 = -16/3 x (x - 1), l_2 = 4/3 x (x - 1/4).
  for (int a = 0; a < 2; ++a) {
    const double x = points[a];
    EXPECT_NEAR(values(a, 0), 4.0 * (x - 0.25) * (x - 1.0), 1e-14);
    EXPECT_NEAR(values(a, 1), -16.0 / 3.0 * x * (x - 1.0), 1e-14);
    EXPECT_NEAR(values(a, 2), 4.0 / 3.0 * x * (x - 0.25), 1e-14);
    EXPECT_NEAR(derivatives(a, 0), 4.0 * (2.0 * x - 1.25), 1e-14);
    EXPECT_NEAR(derivatives(a, 1), -16.0 / 3.0 * (2.0 * x - 1.0), 1e-14);
    EXPECT_NEAR(derivatives(a, 2), 4.0 / 3.0 * (2.0 * x - 0.25), 1e-14);
  }
}

TEST(HighDegrees, InterpolateSmoothFunctionsUpToTheMostPoints) {
  const int p = kMaxPointsPerAxis - 1;
  const Basis1D basis =
      make_basis(p, NodeFamily::gauss_lobatto, QuadratureRule::gauss, kMaxPointsPerAxis);
  for (int q = 0; q < basis.point_count(); ++q) {
    const double x = basis.quadrature.points[q];
    double value = 0.0;
    double derivative = 0.0;
    for (int i = 0; i <= p; ++i) {
      value += basis.B(q, i) * std::sin(20.0 * basis.nodes[i]);
      derivative += basis.G(q, i) * std::sin(20.0 * basis.nodes[i]);
    }
    EXPECT_NEAR(value, std::sin(20.0 * x), 1e-12);
    EXPECT_NEAR(derivative, 20.0 * std::cos(20.0 * x), 1e-9);
  }
}

TEST(BasisErrors, WrongDegreesAndNumbersOfPointsAreRefused) {
  for (const NodeFamily family : {NodeFamily::gauss_lobatto, NodeFamily::equidistant}) {
    EXPECT_THROW(make_nodes(family, 0), std::invalid_argument);
    EXPECT_THROW(make_nodes(family, -3), std::invalid_argument);
    for (const QuadratureRule rule : {QuadratureRule::gauss, QuadratureRule::gauss_lobatto}) {
      EXPECT_THROW(make_basis(0, family, rule, 4), std::invalid_argument);
      EXPECT_THROW(make_basis(3, family, rule, 3), std::invalid_argument);
      EXPECT_THROW(make_basis(3, family, rule, kMaxPointsPerAxis + 1), std::invalid_argument);
      EXPECT_THROW(make_basis(kMaxPointsPerAxis, family, rule, kMaxPointsPerAxis + 1),
                   std::invalid_argument);
      EXPECT_NO_THROW(make_basis(3, family, rule, 4));
      EXPECT_NO_THROW(make_basis(3, family, rule, kMaxPointsPerAxis));
    }
  }
}

}  // namespace
}  // namespace tessera::testing
