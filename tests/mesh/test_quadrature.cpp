// These tests integrate polynomials by quadrature rules.
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <stdexcept>
#include <string>
#include <tuple>
#include <vector>

#include "mesh/element/quadrature.hpp"

namespace tessera::testing {
namespace {

// P_k(2 x - 1): orthogonal on [0, 1], at most 1 there; the integral is 0 for k > 0.
double shifted_legendre(int k, double x) {
  const double t = 2.0 * x - 1.0;
  double previous = 1.0;
  double value = t;
  if (k == 0) return 1.0;
  for (int m = 1; m < k; ++m) {
    const double next = ((2 * m + 1) * t * value - m * previous) / (m + 1);
    previous = value;
    value = next;
  }
  return value;
}

template <class F>
double integrate(const Quadrature& quadrature, F&& f) {
  double sum = 0.0;
  for (std::size_t q = 0; q < quadrature.points.size(); ++q) {
    sum += quadrature.weights[q] * f(quadrature.points[q]);
  }
  return sum;
}

using RuleAndPoints = std::tuple<QuadratureRule, int>;

class QuadratureRules : public ::testing::TestWithParam<RuleAndPoints> {
 protected:
  QuadratureRule rule_ = std::get<0>(GetParam());
  int n_ = std::get<1>(GetParam());
  int exact_degree_ = rule_ == QuadratureRule::gauss ? 2 * n_ - 1 : 2 * n_ - 3;
  Quadrature quadrature_ = make_quadrature(rule_, n_);
};

TEST_P(QuadratureRules, HaveIncreasingPointsOnTheUnitInterval) {
  ASSERT_EQ(quadrature_.points.size(), static_cast<std::size_t>(n_));
  ASSERT_EQ(quadrature_.weights.size(), static_cast<std::size_t>(n_));
  for (int q = 1; q < n_; ++q) EXPECT_LT(quadrature_.points[q - 1], quadrature_.points[q]);
  if (rule_ == QuadratureRule::gauss) {
    EXPECT_GT(quadrature_.points.front(), 0.0);
    EXPECT_LT(quadrature_.points.back(), 1.0);
  } else {
    EXPECT_EQ(quadrature_.points.front(), 0.0);
    EXPECT_EQ(quadrature_.points.back(), 1.0);
  }
}

TEST_P(QuadratureRules, AreSymmetric) {
  for (int q = 0; q < n_; ++q) {
    EXPECT_NEAR(quadrature_.points[q] + quadrature_.points[n_ - 1 - q], 1.0, 1.2e-16);
    EXPECT_EQ(quadrature_.weights[q], quadrature_.weights[n_ - 1 - q]);
  }
  if (n_ % 2 == 1) {
    EXPECT_EQ(quadrature_.points[n_ / 2], 0.5);
  }
}

TEST_P(QuadratureRules, HavePositiveWeightsOfSumOne) {
  for (const double weight : quadrature_.weights) EXPECT_GT(weight, 0.0);
  EXPECT_NEAR(integrate(quadrature_, [](double) { return 1.0; }), 1.0, 1e-14);
}

TEST_P(QuadratureRules, AreExactUpToTheirDegree) {
  for (int k = 1; k <= exact_degree_; ++k) {
    EXPECT_NEAR(integrate(quadrature_, [k](double x) { return shifted_legendre(k, x); }), 0.0,
                2e-14)
        << "degree " << k;
    EXPECT_NEAR(integrate(quadrature_, [k](double x) { return std::pow(x, k); }), 1.0 / (k + 1),
                2e-14)
        << "degree " << k;
  }
}

TEST_P(QuadratureRules, AreNotExactOneDegreeBeyond) {
  const int k = exact_degree_ + 1;
  const double error = integrate(quadrature_, [k](double x) { return shifted_legendre(k, x); });
  EXPECT_GT(std::abs(error), 0.05) << "degree " << k;
}

std::string rule_name(const ::testing::TestParamInfo<RuleAndPoints>& tested) {
  return (std::get<0>(tested.param) == QuadratureRule::gauss ? "Gauss" : "GaussLobatto") +
         std::to_string(std::get<1>(tested.param));
}

INSTANTIATE_TEST_SUITE_P(Gauss, QuadratureRules,
                         ::testing::Combine(::testing::Values(QuadratureRule::gauss),
                                            ::testing::Values(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12,
                                                              13, 14, 15, 16, 33, 48)),
                         rule_name);
INSTANTIATE_TEST_SUITE_P(GaussLobatto, QuadratureRules,
                         ::testing::Combine(::testing::Values(QuadratureRule::gauss_lobatto),
                                            ::testing::Values(2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12,
                                                              13, 14, 15, 16, 33, 48)),
                         rule_name);

void expect_rule(QuadratureRule rule, const std::vector<double>& points,
                 const std::vector<double>& weights) {
  const Quadrature quadrature = make_quadrature(rule, static_cast<int>(points.size()));
  for (std::size_t q = 0; q < points.size(); ++q) {
    EXPECT_NEAR(quadrature.points[q], points[q], 3e-16) << "point " << q;
    EXPECT_NEAR(quadrature.weights[q], weights[q], 3e-16) << "weight " << q;
  }
}

// Closed forms (Abramowitz and Stegun, tables 25.4 and 25.6), moved from [-1, 1] to [0, 1].
TEST(KnownRules, HaveTheirClosedForms) {
  const auto below = [](double x) { return 0.5 - 0.5 * x; };
  const auto above = [](double x) { return 0.5 + 0.5 * x; };
  expect_rule(QuadratureRule::gauss, {0.5}, {1.0});
  const double g2 = std::sqrt(1.0 / 3.0);
  expect_rule(QuadratureRule::gauss, {below(g2), above(g2)}, {0.5, 0.5});
  const double g3 = std::sqrt(0.6);
  expect_rule(QuadratureRule::gauss, {below(g3), 0.5, above(g3)},
              {5.0 / 18.0, 4.0 / 9.0, 5.0 / 18.0});
  expect_rule(QuadratureRule::gauss_lobatto, {0.0, 1.0}, {0.5, 0.5});
  expect_rule(QuadratureRule::gauss_lobatto, {0.0, 0.5, 1.0}, {1.0 / 6.0, 2.0 / 3.0, 1.0 / 6.0});
  const double l4 = std::sqrt(0.2);
  expect_rule(QuadratureRule::gauss_lobatto, {0.0, below(l4), above(l4), 1.0},
              {1.0 / 12.0, 5.0 / 12.0, 5.0 / 12.0, 1.0 / 12.0});
  const double l5 = std::sqrt(3.0 / 7.0);
  expect_rule(QuadratureRule::gauss_lobatto, {0.0, below(l5), 0.5, above(l5), 1.0},
              {1.0 / 20.0, 49.0 / 180.0, 16.0 / 45.0, 49.0 / 180.0, 1.0 / 20.0});
}

TEST(QuadratureErrors, TooFewPointsAreRefused) {
  for (const int n : {-1, 0}) {
    EXPECT_THROW(make_quadrature(QuadratureRule::gauss, n), std::invalid_argument) << n;
  }
  for (const int n : {-1, 0, 1}) {
    EXPECT_THROW(make_quadrature(QuadratureRule::gauss_lobatto, n), std::invalid_argument) << n;
  }
}

}  // namespace
}  // namespace tessera::testing
