// These tests compare Chebyshev's iteration with its polynomials.
#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <cmath>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "solvers/preconditioners/chebyshev.hpp"
#include "tests/device_test.hpp"
#include "tests/solvers/diagonal_systems.hpp"
#include "tests/solvers/operators_to_solve.hpp"

namespace tessera::testing {
namespace {

constexpr double kSmallest = 0.1;
constexpr double kLargest = 2.5;

// T_k(x) by its recurrence.
double polynomial(int k, double x) {
  double last = 1.0;
  double value = x;
  if (k == 0) return last;
  for (int i = 1; i < k; ++i) last = std::exchange(value, 2.0 * x * value - last);
  return value;
}

// What the error of an eigenvector of D^-1 A is multiplied by.
double error_factor(int degree, double eigenvalue) {
  const double center = (kLargest + kSmallest) / 2.0;
  const double radius = (kLargest - kSmallest) / 2.0;
  return polynomial(degree, (center - eigenvalue) / radius) / polynomial(degree, center / radius);
}

// p(D^-1 A) by the eigenvectors of D^-1/2 A D^-1/2.
Eigen::MatrixXd error_matrix(int degree, const Eigen::MatrixXd& A) {
  const Eigen::VectorXd root = A.diagonal().cwiseSqrt();
  const Eigen::MatrixXd scaled =
      root.cwiseInverse().asDiagonal() * A * root.cwiseInverse().asDiagonal();
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solver(scaled);
  Eigen::VectorXd factors = solver.eigenvalues();
  for (double& factor : factors) factor = error_factor(degree, factor);
  const Eigen::MatrixXd of_scaled =
      solver.eigenvectors() * factors.asDiagonal() * solver.eigenvectors().transpose();
  return root.cwiseInverse().asDiagonal() * of_scaled * root.asDiagonal();
}

template <class T>
HostVector<T> inverse_diagonal(const LinearOperator<T, Host>& a) {
  HostVector<T> inverse(a.size());
  a.diagonal(inverse);
  invert_entries(inverse);
  return inverse;
}

class ChebyshevDegrees : public ::testing::TestWithParam<int> {
 protected:
  static int degree() { return GetParam(); }
  static std::vector<double> steps() { return chebyshev_steps(degree(), kSmallest, kLargest); }

  template <class T>
  void expect_polynomial(const LinearOperator<T, Host>& a, const Eigen::MatrixXd& A,
                         double tolerance) const {
    const int n = static_cast<int>(A.rows());
    const Chebyshev<T, Host> chebyshev(a, inverse_diagonal(a), steps());
    EXPECT_EQ(chebyshev.degree(), degree());
    const Eigen::MatrixXd E = error_matrix(degree(), A);
    const HostVector<T> b = vector_of<T>(random_values(n, 11));
    const Eigen::VectorXd exact = solved(A, eigen_of(b));
    // Twice: the first leaves its vectors behind.
    for (int call = 0; call < 2; ++call) {
      HostVector<T> x = poisoned<T>(n);
      chebyshev.smooth_from_zero(b, x);
      EXPECT_LT((eigen_of(x) - (exact - E * exact)).norm(), tolerance * exact.norm());
      HostVector<T> z = poisoned<T>(n);
      chebyshev.apply(b, z);
      EXPECT_TRUE(same_bits(x, z));
      HostVector<T> guess = vector_of<T>(random_values(n, 13));
      const Eigen::VectorXd start = eigen_of(guess);
      chebyshev.smooth(b, guess);
      EXPECT_LT((eigen_of(guess) - (exact + E * (start - exact))).norm(),
                tolerance * (exact.norm() + start.norm()));
      // From a guess that is zero it is the same.
      HostVector<T> zero(n);
      chebyshev.smooth(b, zero);
      EXPECT_LT((eigen_of(zero) - eigen_of(x)).norm(), tolerance * exact.norm());
    }
  }
};

TEST_P(ChebyshevDegrees, AreTheirPolynomials) {
  Eigen::MatrixXd A = random_spd_matrix(23, 20.0, 3);
  const DenseOperator<double> a(A);
  expect_polynomial<double>(a, A, 1e-12);
  expect_polynomial<double>(WithFusedForms<double>(a), A, 1e-12);
  const DenseOperator<float> single(A);
  expect_polynomial<float>(single, A, 1e-5);
  expect_polynomial<float>(WithFusedForms<float>(single), A, 1e-5);
}

// Eigenvalues far apart, each seen by itself: D is what it is told to be.
TEST_P(ChebyshevDegrees, DampEachEigenvalueAsTheyShould) {
  std::vector<double> eigenvalues;
  for (int i = 0; i <= 50; ++i) eigenvalues.push_back(0.05 * (i + 1));
  const int n = static_cast<int>(eigenvalues.size());
  const DiagonalOperator<double> a(eigenvalues);
  HostVector<double> ones(n);
  fill(ones, 1.0);
  const Chebyshev<double, Host> chebyshev(a, std::move(ones), steps());
  const HostVector<double> zero(n);
  HostVector<double> error(n);
  fill(error, 1.0);
  chebyshev.smooth(zero, error);
  for (int i = 0; i < n; ++i) {
    EXPECT_NEAR(error[i], error_factor(degree(), eigenvalues[i]), 1e-13) << eigenvalues[i];
    EXPECT_LE(std::abs(error[i]), 1.0);
  }
}

TEST_P(ChebyshevDegrees, AreSymmetricPreconditioners) {
  const DenseOperator<double> a(random_spd_matrix(17, 50.0, 7));
  const WithFusedForms<double> fused(a);
  for (const LinearOperator<double, Host>* op :
       {static_cast<const LinearOperator<double, Host>*>(&a),
        static_cast<const LinearOperator<double, Host>*>(&fused)}) {
    const Chebyshev<double, Host> chebyshev(*op, inverse_diagonal(*op), steps());
    Eigen::MatrixXd M(17, 17);
    HostVector<double> unit(17);
    HostVector<double> column(17);
    for (int j = 0; j < 17; ++j) {
      fill(unit, 0.0);
      unit[j] = 1.0;
      chebyshev.apply(unit, column);
      M.col(j) = eigen_of(column);
    }
    EXPECT_LT((M - M.transpose()).norm(), 1e-13 * M.norm());
  }
}

TEST_P(ChebyshevDegrees, OnTheGpuDampEachEigenvalueAsTheyShould) {
  TESSERA_REQUIRE_DEVICE();
  if constexpr (kHasCuda) {
    std::vector<double> eigenvalues;
    for (int i = 0; i < 1000; ++i) eigenvalues.push_back(0.0025 * (i + 1));
    const int n = static_cast<int>(eigenvalues.size());
    const DiagonalOperator<double, Device> a(eigenvalues);
    DeviceVector<double> ones(n);
    fill(ones, 1.0);
    const Chebyshev<double, Device> chebyshev(a, std::move(ones), steps());
    const std::vector<double> b = wavy(n);
    DeviceVector<double> x(n);
    fill(x, std::numeric_limits<double>::quiet_NaN());
    chebyshev.smooth_from_zero(vector_in<double, Device>(b), x);
    DeviceVector<double> error(n);
    fill(error, 1.0);
    chebyshev.smooth(DeviceVector<double>(n), error);
    HostVector<double> found(n);
    HostVector<double> factors(n);
    copy(x, found);
    copy(error, factors);
    for (int i = 0; i < n; ++i) {
      const double expected = error_factor(degree(), eigenvalues[i]);
      EXPECT_NEAR(factors[i], expected, 1e-12);
      EXPECT_NEAR(found[i], (1.0 - expected) * b[i] / eigenvalues[i], 1e-12 / eigenvalues[i]);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Degrees, ChebyshevDegrees, ::testing::Values(1, 2, 3, 4, 5, 8),
                         [](const auto& tested) { return std::to_string(tested.param); });

// In single precision: in the order of the roots rounding would grow by many orders of magnitude.
TEST(ChebyshevSteps, OfAHighDegreeComeInAnOrderThatKeepsRoundingSmall) {
  constexpr int kDegree = 60;
  constexpr int n = 1000;
  std::vector<double> eigenvalues(n);
  for (int i = 0; i < n; ++i) {
    eigenvalues[i] = kLargest * std::pow(kSmallest / kLargest, static_cast<double>(i) / (n - 1));
  }
  const DiagonalOperator<float> a(eigenvalues);
  HostVector<float> ones(n);
  fill(ones, 1.0F);
  const Chebyshev<float, Host> chebyshev(a, std::move(ones),
                                         chebyshev_steps(kDegree, kSmallest, kLargest));
  HostVector<float> b(n);
  fill(b, 1.0F);
  HostVector<float> x = poisoned<float>(n);
  chebyshev.smooth_from_zero(b, x);
  for (int i = 0; i < n; ++i) {
    const double expected = 1.0 - error_factor(kDegree, eigenvalues[i]);
    EXPECT_NEAR(x[i] * eigenvalues[i], expected, 1e-4) << eigenvalues[i];
  }
}

TEST(ChebyshevSteps, RefuseIntervalsAndDegreesThatAreNone) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THROW(chebyshev_steps(0, 0.1, 1.0), std::invalid_argument);
  for (const double smallest : {0.0, -0.1, 1.0, 2.0, nan}) {
    EXPECT_THROW(chebyshev_steps(2, smallest, 1.0), std::invalid_argument) << smallest;
  }
  for (const double largest : {0.0, -1.0, nan}) {
    EXPECT_THROW(chebyshev_steps(2, 0.1, largest), std::invalid_argument) << largest;
  }
}

}  // namespace
}  // namespace tessera::testing
