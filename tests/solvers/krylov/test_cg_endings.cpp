// These tests go through endings of a solve by CG; test_cg_variants.cpp has those of all variants.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <vector>

#include "tests/solvers/solve_once.hpp"
#include "tests/solvers/system_test.hpp"

namespace tessera::testing {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

template <class T>
class Endings : public SystemTest<T> {};
TYPED_TEST_SUITE(Endings, Precisions);

TYPED_TEST(Endings, AtTheIterationLimitHaveWhatWasReached) {
  using T = TypeParam;
  HostVector<T> x(30);
  SolveOptions options;
  options.max_iterations = 7;
  const SolveReport report = cg(this->a_, kNone<T>, this->b_, x, options);
  EXPECT_EQ(report.status, SolveStatus::iteration_limit);
  EXPECT_EQ(report.iterations, 7);
  EXPECT_EQ(report.history.size(), 8u);
  EXPECT_GT(report.true_relative_residual, 1e-8);
  EXPECT_LT(report.true_relative_residual, 1.0);
}

TYPED_TEST(Endings, WithoutAnyIterationLeaveTheInitialGuess) {
  using T = TypeParam;
  HostVector<T> x = vector_of<T>(random_values(30, 7));
  const HostVector<T> before = vector_of<T>(random_values(30, 7));
  SolveOptions options;
  options.max_iterations = 0;
  const SolveReport report = cg(this->a_, kNone<T>, this->b_, x, options);
  EXPECT_EQ(report.status, SolveStatus::iteration_limit);
  EXPECT_EQ(report.iterations, 0);
  EXPECT_DOUBLE_EQ(report.true_relative_residual, 1.0);
  EXPECT_TRUE(same_bits(x, before));
}

TYPED_TEST(Endings, OnTheLastAllowedIterationCanBeConverged) {
  using T = TypeParam;
  SolveOptions options;
  options.relative_tolerance = 1e-4;
  HostVector<T> x(30);
  const int needed = cg(this->a_, kNone<T>, this->b_, x, options).iterations;
  options.max_iterations = needed;
  HostVector<T> again(30);
  EXPECT_EQ(cg(this->a_, kNone<T>, this->b_, again, options).status, SolveStatus::converged);
  options.max_iterations = needed - 1;
  HostVector<T> fewer(30);
  EXPECT_EQ(cg(this->a_, kNone<T>, this->b_, fewer, options).status, SolveStatus::iteration_limit);
}

TYPED_TEST(Endings, OnBadRightHandSidesAreNotFiniteAtOnce) {
  using T = TypeParam;
  for (const double bad : {kNan, kInfinity, -kInfinity}) {
    HostVector<T> b = vector_of<T>(random_values(30, 5));
    b[17] = static_cast<T>(bad);
    HostVector<T> x(30);
    const SolveReport report = cg(this->a_, kNone<T>, b, x, {});
    EXPECT_EQ(report.status, SolveStatus::not_finite);
    EXPECT_EQ(report.iterations, 0);
    EXPECT_EQ(report.history.size(), 1u);
    EXPECT_FALSE(std::isfinite(report.true_relative_residual));
    EXPECT_EQ(norm(x), 0.0);
  }
}

TYPED_TEST(Endings, WhereTheOperatorTurnsBadAreNotFinite) {
  using T = TypeParam;
  for (const double bad : {kNan, kInfinity}) {
    // The first application is that of the initial residual.
    for (const int application : {1, 2, 6}) {
      const TamperedOperator<T> a(this->a_, [&](int number, HostVector<T>& y) {
        if (number >= application) y[3] = static_cast<T>(bad);
      });
      HostVector<T> x(30);
      const SolveReport report = cg(a, kNone<T>, this->b_, x, {});
      EXPECT_EQ(report.status, SolveStatus::not_finite) << application;
      EXPECT_EQ(report.iterations, std::max(0, application - 2));
    }
  }
}

template <class T>
class BadPreconditioner final : public Preconditioner<T, Host> {
 public:
  explicit BadPreconditioner(std::int64_t size) : size_(size) {}
  std::int64_t size() const override { return size_; }
  void do_apply(const HostVector<T>& r, HostVector<T>& z) const override {
    copy(r, z);
    z[0] = static_cast<T>(kNan);
  }

 private:
  std::int64_t size_;
};

TYPED_TEST(Endings, WhereThePreconditionerIsBadAreNotFinite) {
  using T = TypeParam;
  const BadPreconditioner<T> m(this->a_.size());
  HostVector<T> x(30);
  const SolveReport report = cg<T, Host>(this->a_, &m, this->b_, x, {});
  EXPECT_EQ(report.status, SolveStatus::not_finite);
  EXPECT_EQ(report.iterations, 0);
}

TYPED_TEST(Endings, AskedForAtConvergenceAreConverged) {
  using T = TypeParam;
  const DiagonalOperator<T> a({2, 2, 2});
  HostVector<T> x(3);
  SolveOptions options;
  options.observer = [](int, double) { return Continue::no; };
  const SolveReport report =
      cg(a, kNone<T>, vector_of<T>(std::vector<double>{1, 2, 3}), x, options);
  EXPECT_EQ(report.status, SolveStatus::converged);
  EXPECT_EQ(report.iterations, 1);
}

// Singular, and b is not in the range: the residual cannot fall below the part outside of it.
TYPED_TEST(Endings, OfUnsolvableSystemsComeWithoutConvergence) {
  using T = TypeParam;
  const int n = 40;
  Eigen::MatrixXd A = Eigen::MatrixXd::Zero(n, n);
  for (int i = 0; i < n; ++i) {
    A(i, i) = 2.0;
    A(i, (i + 1) % n) = A((i + 1) % n, i) = -1.0;
  }
  const DenseOperator<T> a(A);
  HostVector<T> b = vector_of<T>(random_values(n, 11));
  for (T& value : b.span()) value += T{1};
  HostVector<T> x(n);
  SolveOptions options;
  options.max_iterations = 100000;
  const SolveReport report = cg(a, kNone<T>, b, x, options);
  EXPECT_NE(report.status, SolveStatus::converged);
  EXPECT_LT(report.iterations, 10000);
}

// The recurrence's residual is wrong from the third iteration on; the report has b - A x.
TYPED_TEST(Endings, BeforeConvergenceReportTheTrueResidual) {
  using T = TypeParam;
  for (const SolveStatus ending : {SolveStatus::iteration_limit, SolveStatus::interrupted}) {
    SolveOptions options;
    options.reference_norm = 2.0;
    options.max_iterations = ending == SolveStatus::iteration_limit ? 6 : 1000;
    options.observer = [](int iteration, double) {
      return iteration < 7 ? Continue::yes : Continue::no;
    };
    HostVector<T> x(30);
    const TamperedOperator<T> a = wrong_once(this->a_, 4, 1.5);
    const SolveReport report = cg(a, kNone<T>, this->b_, x, options);
    EXPECT_EQ(report.status, ending);
    const double expected = this->residual_norm(x) / 2.0;
    EXPECT_NEAR(report.true_relative_residual, expected, 1e-4 * expected);
    EXPECT_GT(std::abs(report.history.back() - expected), 0.01 * expected);
  }
}

// Every application is wrong in another way: no restart can help.
TYPED_TEST(Endings, WhereRestartsDoNotHelpAreStagnated) {
  using T = TypeParam;
  const TamperedOperator<T> a(this->a_, [](int number, HostVector<T>& y) {
    const T factor = T{1} + static_cast<T>(number % 3);
    for (T& value : y.span()) value *= factor;
  });
  HostVector<T> x(30);
  SolveOptions options;
  options.relative_tolerance = 1e-4;
  options.max_iterations = 100000;
  const SolveReport report = cg(a, kNone<T>, this->b_, x, options);
  EXPECT_EQ(report.status, SolveStatus::stagnated);
  EXPECT_GT(report.true_relative_residual, 1.1e-4);
  EXPECT_LT(report.iterations, 100000);
}

TEST(StatusNames, AreDifferentAndNotEmpty) {
  std::set<std::string_view> names;
  for (const SolveStatus status :
       {SolveStatus::converged, SolveStatus::iteration_limit, SolveStatus::stagnated,
        SolveStatus::indefinite, SolveStatus::not_finite, SolveStatus::interrupted,
        SolveStatus::diverged, SolveStatus::no_step}) {
    EXPECT_FALSE(status_name(status).empty());
    EXPECT_NE(status_name(status), "unknown");
    names.insert(status_name(status));
  }
  EXPECT_EQ(names.size(), 8u);
  EXPECT_EQ(status_name(SolveStatus::converged), "converged");
}

}  // namespace
}  // namespace tessera::testing
