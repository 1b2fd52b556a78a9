// These tests solve by CG with operators that have fused operations.
#include <gtest/gtest.h>

#include <limits>
#include <vector>

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
