// These tests compare Richardson's iteration with its formula.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "tests/solvers/matrices_to_solve.hpp"
#include "tests/solvers/solve_once.hpp"
#include "tests/solvers/system_test.hpp"

namespace tessera::testing {
namespace {

template <class T>
class RichardsonIterations : public SystemTest<T> {
 protected:
  RichardsonIterations() : SystemTest<T>(10.0) {}
};
TYPED_TEST_SUITE(RichardsonIterations, Precisions);

// e = (I - omega M A) e each time.
TYPED_TEST(RichardsonIterations, AreTheFixedPointIteration) {
  using T = TypeParam;
  const WithFusedForms<T> fused(this->a_);
  const Jacobi<T> jacobi(this->a_);
  const NeumannSeries<T> neumann(this->a_, 10.0);
  const Eigen::MatrixXd& A = this->a_.matrix();
  const double omega = 0.15;
  for (const Preconditioning<T> m :
       {kNone<T>, Preconditioning<T>(&jacobi), Preconditioning<T>(&neumann)}) {
    for (const LinearOperator<T, Host>* a : {static_cast<const LinearOperator<T, Host>*>(&this->a_),
                                             static_cast<const LinearOperator<T, Host>*>(&fused)}) {
      HostVector<T> x = vector_of<T>(random_values(30, 7));
      Eigen::VectorXd expected = eigen_of(x);
      SolveOptions options;
      options.max_iterations = 5;
      const double reference = (eigen_of(this->b_) - A * expected).norm();
      const SolveReport report = richardson<T, Host>(*a, m, this->b_, x, omega, options);
      EXPECT_EQ(report.status, SolveStatus::iteration_limit);
      ASSERT_EQ(report.history.size(), 6u);
      for (int k = 0; k <= 5; ++k) {
        const Eigen::VectorXd r = eigen_of(this->b_) - A * expected;
        EXPECT_NEAR(report.history[k], r.norm() / reference, 1e-5);
        if (k == 5) break;
        HostVector<T> z = vector_of<T>(r);
        if (m != nullptr) m->apply(vector_of<T>(r), z);
        expected += omega * eigen_of(z);
      }
      EXPECT_LT((eigen_of(x) - expected).norm(),
                100.0 * std::numeric_limits<T>::epsilon() * expected.norm());
      EXPECT_EQ(report.true_relative_residual, report.history.back());
    }
  }
}

TYPED_TEST(RichardsonIterations, Converge) {
  using T = TypeParam;
  SolveOptions options;
  options.relative_tolerance = 1e-5;
  HostVector<T> x(30);
  const SolveReport report =
      richardson<T, Host>(this->a_, nullptr, this->b_, x, 2.0 / 11.0, options);
  EXPECT_EQ(report.status, SolveStatus::converged);
  // The error falls by 9/11 an iteration, and the residual with it.
  EXPECT_LE(report.iterations, std::ceil(std::log(1e-5) / std::log(9.0 / 11.0)));
  EXPECT_LE(report.true_relative_residual, 1e-5);
}

TYPED_TEST(RichardsonIterations, DivergeWithTooLargeSteps) {
  using T = TypeParam;
  SolveOptions options;
  HostVector<T> x(30);
  const SolveReport report = richardson<T, Host>(this->a_, nullptr, this->b_, x, 0.3, options);
  EXPECT_EQ(report.status, SolveStatus::diverged);
  EXPECT_GT(report.history.back(), kMaxGrowth);
  EXPECT_LE(report.history[report.history.size() - 2], kMaxGrowth);
}

TYPED_TEST(RichardsonIterations, EndOtherwiseAsCgDoes) {
  using T = TypeParam;
  HostVector<T> x(30);
  SolveOptions options;
  options.observer = [](int iteration, double) {
    return iteration == 3 ? Continue::no : Continue::yes;
  };
  const SolveReport stopped = richardson<T, Host>(this->a_, nullptr, this->b_, x, 0.1, options);
  EXPECT_EQ(stopped.status, SolveStatus::interrupted);
  EXPECT_EQ(stopped.iterations, 3);
  options.observer = nullptr;
  options.relative_tolerance = 1e-30;
  options.max_iterations = 100000;
  const SolveReport stagnated = richardson<T, Host>(this->a_, nullptr, this->b_, x, 0.1, options);
  EXPECT_EQ(stagnated.status, SolveStatus::stagnated);
  EXPECT_LT(stagnated.iterations, 5000);
  EXPECT_LT(stagnated.true_relative_residual, 1e2);
  const HostVector<T> zero(30);
  HostVector<T> solution(30);
  EXPECT_EQ((richardson<T, Host>(this->a_, nullptr, zero, solution, 0.1, {}).iterations), 0);
  const TamperedOperator<T> bad(this->a_, [](int number, HostVector<T>& y) {
    if (number == 3) y[1] = std::numeric_limits<T>::quiet_NaN();
  });
  HostVector<T> other(30);
  EXPECT_EQ((richardson<T, Host>(bad, nullptr, this->b_, other, 0.1, {}).status),
            SolveStatus::not_finite);
}

}  // namespace
}  // namespace tessera::testing
