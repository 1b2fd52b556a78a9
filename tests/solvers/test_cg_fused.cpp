// These tests solve with operators that have fused operations.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "tests/everywhere.hpp"
#include "tests/solvers/operators_to_solve.hpp"
#include "tests/solvers/solve_once.hpp"

namespace tessera::testing {
namespace {

// CG that foresees the residual's norm, on operators with fused forms.
template <class T>
class FusedCg : public ::testing::Test {
 protected:
  DenseOperator<T> a_{random_spd_matrix(30, 100.0, 3)};
  WithFusedForms<T> fused_{a_};
  HostVector<T> b_ = vector_of<T>(random_values(30, 5));
};

TYPED_TEST_SUITE(FusedCg, Precisions);

TYPED_TEST(FusedCg, GivesTheSolutionInAsManyIterations) {
  using T = TypeParam;
  SolveOptions options;
  options.relative_tolerance = sizeof(T) == sizeof(double) ? 1e-9 : 1e-5;
  HostVector<T> x = vector_of<T>(random_values(30, 7));
  const SolveReport report = cg(this->fused_, kNone<T>, this->b_, x, options);
  EXPECT_EQ(report.status, SolveStatus::converged);
  const Eigen::VectorXd expected = solved(this->a_.matrix(), eigen_of(this->b_));
  EXPECT_LT((eigen_of(x) - expected).norm(),
            100.0 * options.relative_tolerance * eigen_of(this->b_).norm());
  HostVector<T> plain_x = vector_of<T>(random_values(30, 7));
  const SolveReport plain = cg(this->a_, kNone<T>, this->b_, plain_x, options);
  EXPECT_NEAR(report.iterations, plain.iterations, 2);
}

TYPED_TEST(FusedCg, SolvesAtOnceWhereOneDirectionIsEnough) {
  using T = TypeParam;
  const DiagonalOperator<T> a({2, 2, 2});
  const WithFusedForms<T> fused(a);
  HostVector<T> x(3);
  const SolveReport report = cg(fused, kNone<T>, vector_of<T>(std::vector<double>{1, 2, 3}), x, {});
  EXPECT_EQ(report.status, SolveStatus::converged);
  EXPECT_EQ(report.iterations, 1);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(x[i], static_cast<T>(0.5 * (i + 1)));
}

TYPED_TEST(FusedCg, EndsWhereTheOperatorIsIndefinite) {
  using T = TypeParam;
  const DiagonalOperator<T> a({1, 1, -3});
  const WithFusedForms<T> fused(a);
  HostVector<T> x(3);
  EXPECT_EQ(cg(fused, kNone<T>, vector_of<T>(std::vector<double>{1, 1, 1}), x, {}).status,
            SolveStatus::indefinite);
}

TYPED_TEST(FusedCg, EndsAtANumberThatIsNone) {
  using T = TypeParam;
  const TamperedOperator<T> a(this->a_, [](int number, HostVector<T>& y) {
    if (number == 3) y[4] = std::numeric_limits<T>::quiet_NaN();
  });
  const WithFusedForms<T> fused(a);
  HostVector<T> x(30);
  EXPECT_EQ(cg(fused, kNone<T>, this->b_, x, {}).status, SolveStatus::not_finite);
}

TYPED_TEST(FusedCg, StopsWhereTheObserverAsks) {
  using T = TypeParam;
  for (const int stop : {1, 5}) {
    SolveOptions options;
    options.observer = [&](int iteration, double) {
      return iteration == stop ? Continue::no : Continue::yes;
    };
    HostVector<T> x(30);
    const SolveReport report = cg(this->fused_, kNone<T>, this->b_, x, options);
    EXPECT_EQ(report.status, SolveStatus::interrupted);
    EXPECT_EQ(report.iterations, stop);
    SolveOptions limited;
    limited.max_iterations = stop;
    HostVector<T> expected(30);
    EXPECT_EQ(cg(this->fused_, kNone<T>, this->b_, expected, limited).status,
              SolveStatus::iteration_limit);
    EXPECT_TRUE(same_bits(x, expected));
  }
}

TYPED_TEST(FusedCg, BeyondRoundingIsStagnated) {
  using T = TypeParam;
  HostVector<T> x(30);
  SolveOptions options;
  options.relative_tolerance = 1e-30;
  options.max_iterations = 100000;
  const SolveReport report = cg(this->fused_, kNone<T>, this->b_, x, options);
  EXPECT_EQ(report.status, SolveStatus::stagnated);
  EXPECT_GT(report.true_relative_residual, 1e-20);
  EXPECT_LT(report.true_relative_residual, 1e3 * std::numeric_limits<T>::epsilon());
  EXPECT_LT(report.iterations, 2000);
}

// One application is wrong: the iteration restarts from the true residual.
TYPED_TEST(FusedCg, IsConvergedOnlyWhereTheTrueResidualIs) {
  using T = TypeParam;
  const TamperedOperator<T> a(this->a_, [](int number, HostVector<T>& y) {
    if (number == 4) {
      for (T& value : y.span()) value *= T{1.5};
    }
  });
  const WithFusedForms<T> fused(a);
  HostVector<T> x(30);
  SolveOptions options;
  options.relative_tolerance = 1e-4;
  const SolveReport report = cg(fused, kNone<T>, this->b_, x, options);
  EXPECT_EQ(report.status, SolveStatus::converged);
  const double residual = (eigen_of(this->b_) - multiplied(this->a_.matrix(), eigen_of(x))).norm();
  EXPECT_LE(residual, 1.2e-4 * eigen_of(this->b_).norm());
}

}  // namespace
}  // namespace tessera::testing
