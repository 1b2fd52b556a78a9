// These tests compare Lagrange polynomials at one point with those of the element's tables.
#include <gtest/gtest.h>

#include "mesh/element/basis_1d.hpp"
#include "mesh/element/line_basis.hpp"

namespace tessera::testing {
namespace {

TEST(LineBasis, IsThatOfTheElement) {
  for (int degree = 1; degree <= 32; ++degree) {
    const std::vector<double> nodes = make_nodes(NodeFamily::gauss_lobatto, degree);
    const LineBasis basis(nodes);
    std::vector<double> points = {0.0, 1.0, 0.5, 0.123, 0.999};
    points.insert(points.end(), nodes.begin(), nodes.end());
    const Matrix1D B = lagrange_values(nodes, points);
    const Matrix1D G = lagrange_derivatives(nodes, points);
    for (int a = 0; a < B.rows; ++a) {
      LineValues values{};
      LineValues again{};
      LineValues slopes{};
      basis.values(points[a], values);
      basis.values(points[a], again, slopes);
      for (int i = 0; i <= degree; ++i) {
        EXPECT_NEAR(values[i], B(a, i), 1e-13);
        EXPECT_NEAR(again[i], B(a, i), 1e-13);
        EXPECT_NEAR(slopes[i], G(a, i), 1e-12 * degree * degree);
      }
    }
  }
}

TEST(LineBasis, HasOnePolynomialAtANode) {
  const LineBasis basis(std::vector<double>{0.0, 0.3, 1.0});
  LineValues values;
  const auto [first, last] = basis.values(0.3, values);
  EXPECT_EQ(first, 1);
  EXPECT_EQ(last, 1);
  EXPECT_EQ(values[1], 1.0);
  EXPECT_EQ(values[2], 0.0);
  EXPECT_EQ(basis.values(0.4, values).last, 2);
}

}  // namespace
}  // namespace tessera::testing
