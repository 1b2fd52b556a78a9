// These tests hold conjugate gradients to their theory.
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <vector>

#include "tests/everywhere.hpp"
#include "tests/solvers/operators_to_solve.hpp"
#include "tests/solvers/solve_once.hpp"

namespace tessera::testing {
namespace {

template <class T>
class Solves : public ::testing::Test {
 protected:
  // What the precision allows on well-conditioned matrices.
  static constexpr double kReachable = in_precision<T>(1e-12, 1e-5);

  static HostVector<T> random(std::int64_t n, unsigned seed) {
    return vector_of<T>(random_values(n, seed));
  }
  static double relative_residual(const DenseOperator<T>& a, const HostVector<T>& b,
                                  const HostVector<T>& x, double reference) {
    return (eigen_of(b) - multiplied(a.matrix(), eigen_of(x))).norm() / reference;
  }
};

TYPED_TEST_SUITE(Solves, Precisions);

TYPED_TEST(Solves, FindTheSolutionOfADirectSolve) {
  using T = TypeParam;
  for (const int n : {1, 2, 3, 10, 63}) {
    for (const double condition : {1.0, 10.0, 1000.0}) {
      SCOPED_TRACE(::testing::Message() << n << " unknowns, condition " << condition);
      const DenseOperator<T> a(random_spd_matrix(n, condition, 3));
      const Jacobi<T> jacobi(a);
      const HostVector<T> b = this->random(n, 5);
      const Eigen::VectorXd expected = solved(a.matrix(), eigen_of(b));
      for (const Preconditioning<T> m : {kNone<T>, Preconditioning<T>(&jacobi)}) {
        HostVector<T> x = this->random(n, 7);
        const double start = this->relative_residual(a, b, x, norm(b));
        SolveOptions options;
        options.relative_tolerance = this->kReachable * std::sqrt(condition);
        options.reference_norm = norm(b);
        const SolveReport report = cg(a, m, b, x, options);
        ASSERT_EQ(report.status, SolveStatus::converged);
        ASSERT_EQ(report.history.size(), static_cast<std::size_t>(report.iterations) + 1);
        EXPECT_NEAR(report.history.front(), start, 1e-5 * start);
        EXPECT_LE(report.history.back(), options.relative_tolerance);
        EXPECT_LE(report.true_relative_residual, options.relative_tolerance);
        // |x - A^-1 b| <= |A^-1| |b - A x|, and |A^-1| = 1.
        EXPECT_LT((eigen_of(x) - expected).norm(),
                  1.2 * options.relative_tolerance * eigen_of(b).norm() + 1e-15);
      }
    }
  }
}

TYPED_TEST(Solves, ReportTheResidualOfWhatTheyReturn) {
  using T = TypeParam;
  const int n = 40;
  const DenseOperator<T> a(random_spd_matrix(n, 100.0, 11));
  const HostVector<T> b = this->random(n, 13);
  for (const int most : {0, 1, 5, 12}) {
    HostVector<T> x = this->random(n, 17);
    SolveOptions options;
    options.relative_tolerance = this->kReachable;
    options.reference_norm = 3.0;
    options.max_iterations = most;
    const SolveReport report = cg(a, kNone<T>, b, x, options);
    ASSERT_EQ(report.iterations, most);
    const double expected = this->relative_residual(a, b, x, 3.0);
    EXPECT_NEAR(report.true_relative_residual, expected, 1e-4 * expected);
    EXPECT_NEAR(report.history.back(), expected, 1e-3 * expected);
  }
}

// m distinct eigenvalues: the residual polynomial of degree m that vanishes at all of them.
TYPED_TEST(Solves, TakeAsManyIterationsAsThereAreEigenvalues) {
  using T = TypeParam;
  const std::int64_t n = 6000;
  for (const int distinct : {1, 2, 3, 5}) {
    std::vector<double> eigenvalues(static_cast<std::size_t>(n));
    for (std::int64_t i = 0; i < n; ++i) {
      eigenvalues[i] = 1.0 + 1.5 * static_cast<double>(i % distinct);
    }
    const DiagonalOperator<T> a(eigenvalues);
    const HostVector<T> b = this->random(n, 19);
    HostVector<T> x(n);
    SolveOptions options;
    options.relative_tolerance = this->kReachable;
    const SolveReport report = cg(a, kNone<T>, b, x, options);
    EXPECT_EQ(report.status, SolveStatus::converged);
    EXPECT_EQ(report.iterations, distinct);
    for (std::int64_t i = 0; i < n; ++i) {
      ASSERT_NEAR(x[i], static_cast<double>(b[i]) / eigenvalues[i], 2 * this->kReachable);
    }
  }
}

// The k-th iterate minimizes the energy error over x_0 + K_k(M A, M r_0).
TEST(CgIterates, MinimizeTheEnergyErrorOverTheKrylovSpace) {
  const int n = 20;
  const DenseOperator<double> a(random_spd_matrix(n, 50.0, 23));
  const Eigen::MatrixXd& A = a.matrix();
  const Jacobi<double> jacobi(a);
  const HostVector<double> b = vector_of<double>(random_values(n, 29));
  const Eigen::VectorXd start = eigen_of(vector_of<double>(random_values(n, 31)));
  for (const Preconditioning<double> m : {kNone<double>, Preconditioning<double>(&jacobi)}) {
    Eigen::MatrixXd M = Eigen::MatrixXd::Identity(n, n);
    if (m != nullptr) M = A.diagonal().cwiseInverse().asDiagonal();
    Eigen::MatrixXd krylov(n, 0);
    Eigen::VectorXd next = M * (eigen_of(b) - A * start);
    for (int k = 1; k <= 8; ++k) {
      // Twice: once is not orthogonal enough.
      next -= krylov * (krylov.transpose() * next).eval();
      next -= krylov * (krylov.transpose() * next).eval();
      next.normalize();
      krylov.conservativeResize(n, k);
      krylov.col(k - 1) = next;
      const Eigen::VectorXd best =
          start + krylov * solved(krylov.transpose() * A * krylov,
                                  krylov.transpose() * (eigen_of(b) - A * start));
      HostVector<double> x = vector_of<double>(start);
      SolveOptions options;
      options.relative_tolerance = 0.0;
      options.max_iterations = k;
      const SolveReport report = cg(a, m, b, x, options);
      ASSERT_EQ(report.iterations, k);
      EXPECT_LT((eigen_of(x) - best).norm(), 1e-11 * best.norm()) << k << " iterations";
      next = M * (A * krylov.col(k - 1));
    }
  }
}

TYPED_TEST(Solves, FromWithinTheToleranceTakeNoIteration) {
  using T = TypeParam;
  const DenseOperator<T> a(random_spd_matrix(30, 50.0, 83));
  const HostVector<T> b = this->random(30, 89);
  SolveOptions options;
  options.relative_tolerance = 1e-3;
  options.reference_norm = norm(b);
  HostVector<T> x(30);
  ASSERT_GT(cg(a, kNone<T>, b, x, options).iterations, 0);
  HostVector<T> before(30);
  copy(x, before);
  options.relative_tolerance = 1.2e-3;
  const SolveReport report = cg(a, kNone<T>, b, x, options);
  EXPECT_EQ(report.status, SolveStatus::converged);
  EXPECT_EQ(report.iterations, 0);
  EXPECT_EQ(report.history.size(), 1u);
  EXPECT_GT(report.true_relative_residual, 0.0);
  EXPECT_EQ(report.true_relative_residual, report.history.front());
  EXPECT_TRUE(same_bits(x, before));
}

// The tolerance is on the reference norm, not on what the initial guess leaves.
TYPED_TEST(Solves, FromCloseByTakeFewerIterationsForTheSameReference) {
  using T = TypeParam;
  const int n = 50;
  const DenseOperator<T> a(random_spd_matrix(n, 300.0, 37));
  const HostVector<T> b = this->random(n, 41);
  const Eigen::VectorXd exact = solved(a.matrix(), eigen_of(b));
  SolveOptions options;
  options.relative_tolerance = 1e-4;
  options.reference_norm = norm(b);
  HostVector<T> far(n);
  const SolveReport cold = cg(a, kNone<T>, b, far, options);
  HostVector<T> near = vector_of<T>(Eigen::VectorXd(exact * (1.0 + 1e-3)));
  const SolveReport warm = cg(a, kNone<T>, b, near, options);
  EXPECT_NEAR(cold.history.front(), 1.0, 1e-6);
  EXPECT_NEAR(warm.history.front(), 1e-3, 1e-4);
  EXPECT_EQ(warm.status, SolveStatus::converged);
  EXPECT_LT(warm.iterations, cold.iterations);
  EXPECT_GT(warm.iterations, 0);
}

TYPED_TEST(Solves, WithoutReferenceAreRelativeToTheInitialResidual) {
  using T = TypeParam;
  const int n = 30;
  const DenseOperator<T> a(random_spd_matrix(n, 20.0, 43));
  const HostVector<T> b = this->random(n, 47);
  HostVector<T> x = this->random(n, 53);
  const double initial = this->relative_residual(a, b, x, 1.0);
  SolveOptions options;
  options.relative_tolerance = 1e-3;
  const SolveReport report = cg(a, kNone<T>, b, x, options);
  EXPECT_EQ(report.status, SolveStatus::converged);
  EXPECT_DOUBLE_EQ(report.history.front(), 1.0);
  EXPECT_LE(this->relative_residual(a, b, x, initial), 1.1e-3);
}

// Residuals of alpha = beta = 1: the norm stays exactly 1 until the last of n iterations.
TYPED_TEST(Solves, ArePatientWhereTheResidualDoesNotFallForLong) {
  using T = TypeParam;
  const int n = 600;
  Eigen::MatrixXd A = 2.0 * Eigen::MatrixXd::Identity(n, n);
  A(0, 0) = 1.0;
  for (int i = 1; i < n; ++i) A(i, i - 1) = A(i - 1, i) = -1.0;
  const DenseOperator<T> a(A);
  HostVector<T> b(n);
  b[0] = T{1};
  HostVector<T> x(n);
  const SolveReport report = cg(a, kNone<T>, b, x, {});
  EXPECT_EQ(report.status, SolveStatus::converged);
  EXPECT_EQ(report.iterations, n);
  for (int k = 0; k < n; ++k) ASSERT_EQ(report.history[k], 1.0);
  EXPECT_EQ(report.true_relative_residual, 0.0);
  for (int i = 0; i < n; ++i) ASSERT_EQ(x[i], static_cast<T>(n - i));
}

TYPED_TEST(Solves, CallTheObserverOncePerIteration) {
  using T = TypeParam;
  const DenseOperator<T> a(random_spd_matrix(30, 30.0, 73));
  const Jacobi<T> jacobi(a);
  const HostVector<T> b = this->random(30, 79);
  for (const Preconditioning<T> m : {kNone<T>, Preconditioning<T>(&jacobi)}) {
    for (const int most : {0, 4, 1000}) {
      HostVector<T> x(30);
      std::vector<int> numbers;
      std::vector<double> residuals;
      SolveOptions options;
      options.relative_tolerance = 1e-4;
      options.max_iterations = most;
      options.observer = [&](int iteration, double relative_residual) {
        numbers.push_back(iteration);
        residuals.push_back(relative_residual);
        return Continue::yes;
      };
      const SolveReport report = cg(a, m, b, x, options);
      std::vector<int> expected(static_cast<std::size_t>(report.iterations));
      std::iota(expected.begin(), expected.end(), 1);
      EXPECT_EQ(numbers, expected);
      EXPECT_EQ(residuals, std::vector<double>(report.history.begin() + 1, report.history.end()));
    }
  }
}

}  // namespace
}  // namespace tessera::testing
