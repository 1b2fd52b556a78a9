// These tests solve by CG with operators that have fused operations.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "solvers/krylov/formulas.hpp"
#include "tests/solvers/solve_once.hpp"
#include "tests/solvers/system_test.hpp"

namespace tessera::testing {
namespace {

// CG that foresees the residual's norm, on operators with fused forms.
template <class T>
class FusedCg : public SystemTest<T> {
 protected:
  WithFusedForms<T> fused_{this->a_};
};
TYPED_TEST_SUITE(FusedCg, Precisions);

TYPED_TEST(FusedCg, GivesTheSolutionInAsManyIterations) {
  using T = TypeParam;
  SolveOptions options;
  options.relative_tolerance = sizeof(T) == sizeof(double) ? 1e-9 : 1e-5;
  HostVector<T> x = vector_of<T>(random_values(30, 7));
  const SolveReport report = cg(this->fused_, kNone<T>, this->b_, x, options);
  EXPECT_EQ(report.status, SolveStatus::converged);
  EXPECT_LT((eigen_of(x) - this->solution()).norm(),
            100.0 * options.relative_tolerance * eigen_of(this->b_).norm());
  HostVector<T> plain_x = vector_of<T>(random_values(30, 7));
  const SolveReport plain = cg(this->a_, kNone<T>, this->b_, plain_x, options);
  EXPECT_NEAR(report.iterations, plain.iterations, 2);
}

// x lags behind by a step in every second iteration, which whoever stops there does not see.
TYPED_TEST(FusedCg, HasTheIteratesOfPlainCgWhereverItStops) {
  using T = TypeParam;
  for (const bool observes : {false, true}) {
    for (int iterations = 1; iterations <= 6; ++iterations) {
      SCOPED_TRACE(std::to_string(iterations) + (observes ? ", observed" : ""));
      SolveOptions options;
      options.relative_tolerance = 1e-30;
      options.max_iterations = observes ? 100 : iterations;
      if (observes) {
        options.observer = [iterations](int done, double /*residual*/) {
          return done < iterations ? Continue::yes : Continue::no;
        };
      }
      HostVector<T> x = vector_of<T>(random_values(30, 7));
      const SolveReport report = cg(this->fused_, kNone<T>, this->b_, x, options);
      ASSERT_EQ(report.iterations, iterations);
      HostVector<T> plain_x = vector_of<T>(random_values(30, 7));
      cg(this->a_, kNone<T>, this->b_, plain_x, options);
      const double scale = eigen_of(plain_x).norm();
      EXPECT_LT((eigen_of(x) - eigen_of(plain_x)).norm(),
                300.0 * std::numeric_limits<T>::epsilon() * scale);
      EXPECT_NEAR(report.true_relative_residual, report.history.back(),
                  1e3 * std::numeric_limits<T>::epsilon());
    }
  }
}

// The residual falls by digits in every iteration, where a step must not wait.
TYPED_TEST(FusedCg, LosesNoDigitsWhereItConvergesFast) {
  using T = TypeParam;
  for (const double spread : {1e-1, 1e-2, 1e-3, 1e-4}) {
    SCOPED_TRACE(spread);
    std::vector<double> entries;
    for (int i = 0; i < 200; ++i) entries.push_back(1.0 + spread * i / 199.0);
    const DiagonalOperator<T> a(entries);
    const WithFusedForms<T> fused(a);
    const HostVector<T> b = vector_of<T>(random_values(200, 11));
    SolveOptions options;
    options.relative_tolerance = 8.0 * std::numeric_limits<T>::epsilon();
    HostVector<T> x(200);
    const SolveReport report = cg(fused, kNone<T>, b, x, options);
    EXPECT_EQ(report.status, SolveStatus::converged);
    for (int i = 0; i < 200; ++i) {
      ASSERT_NEAR(x[i] * entries[i], b[i], 64.0 * std::numeric_limits<T>::epsilon());
    }
  }
}

TEST(DelayedStep, IsLeftToTheNextDirectionOnlyWhereThatHasItsDigits) {
  EXPECT_EQ(delayed_step(3.0, 0.5), 6.0);
  EXPECT_EQ(delayed_step(3.0, 1.0 / 64.0), 192.0);
  EXPECT_EQ(delayed_step(3.0, 64.0), 3.0 / 64.0);
  for (const double beta : {0.0, 1e-300, 0.015, 64.1, std::numeric_limits<double>::infinity(),
                            std::numeric_limits<double>::quiet_NaN()}) {
    EXPECT_EQ(delayed_step(3.0, beta), 0.0) << beta;
  }
}

TEST(ForeseenBeta, IsTheRatioOfTheSquares) {
  // r = (3, 4), q = (1, 2): r.q = 11 = p.q, alpha = 25 / 11.
  const double alpha = 25.0 / 11.0;
  const double after = std::pow(3.0 - alpha, 2) + std::pow(4.0 - 2.0 * alpha, 2);
  EXPECT_NEAR(foreseen_beta(alpha, 5.0, 25.0), after / 25.0, 1e-15);
  EXPECT_EQ(foreseen_beta(1.0, 1.0, 2.0), 0.0);
  EXPECT_TRUE(std::isnan(foreseen_beta(1.0, std::numeric_limits<double>::quiet_NaN(), 2.0)));
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

}  // namespace
}  // namespace tessera::testing
