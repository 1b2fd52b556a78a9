// These tests solve systems that are not symmetric, on host and GPU.
#include <gtest/gtest.h>

#include <Eigen/Core>
#include <cmath>
#include <functional>
#include <limits>
#include <vector>

#include "solvers/memory/dot_products.hpp"
#include "tests/everywhere.hpp"
#include "tests/solvers/matrices_to_solve.hpp"
#include "tests/solvers/solve_once.hpp"

namespace tessera::testing {
namespace {

constexpr int kSize = 40;

/// An identity with a random skew part and a random symmetric one.
Eigen::MatrixXd unsymmetric_matrix() {
  const std::vector<double> values = random_values(kSize * kSize, 11);
  Eigen::MatrixXd A = Eigen::MatrixXd::Identity(kSize, kSize);
  for (int i = 0; i < kSize; ++i) {
    for (int j = 0; j < kSize; ++j) A(i, j) += 0.1 * values[i * kSize + j];
  }
  return A;
}

/// x_i moves to i + 1: GMRES has no progress before iteration n.
Eigen::MatrixXd shift_matrix() {
  Eigen::MatrixXd A = Eigen::MatrixXd::Zero(kSize, kSize);
  for (int i = 0; i < kSize; ++i) A((i + 1) % kSize, i) = 1.0;
  return A;
}

SolveReport solve_with_restart(const LinearOperator<double, Host>& a,
                               const Preconditioner<double, Host>* m, const HostVector<double>& b,
                               HostVector<double>& x, const SolveOptions& options, int restart) {
  return make_solver(SolverMethod::flexible_gmres, a, m, 1.0, restart)->solve(b, x, options);
}

class NonsymmetricSystem : public ::testing::Test {
 protected:
  double error(const HostVector<double>& x) const {
    return (eigen_of(x) - eigen_of(solution_)).lpNorm<Eigen::Infinity>();
  }

  DenseOperator<double> a_{unsymmetric_matrix()};
  HostVector<double> solution_ = vector_of<double>(random_values(kSize, 4));
  HostVector<double> b_ = vector_of<double>(multiplied(a_.matrix(), eigen_of(solution_)));
  HostVector<double> x_{kSize};
};

TEST_F(NonsymmetricSystem, GmresHasTheLeastResidualOfTheKrylovSpace) {
  SolveOptions options;
  options.max_iterations = 6;
  const SolveReport report = solve_with_restart(a_, nullptr, b_, x_, options, 30);
  EXPECT_EQ(report.status, SolveStatus::iteration_limit);
  ASSERT_EQ(report.history.size(), 7u);
  const Eigen::VectorXd b = eigen_of(b_);
  Eigen::MatrixXd products(kSize, 0);
  Eigen::VectorXd last = b;
  for (int k = 1; k <= 6; ++k) {
    last = multiplied(a_.matrix(), last);
    products.conservativeResize(kSize, k);
    products.col(k - 1) = last;
    const Eigen::VectorXd y = solved(products.transpose() * products, products.transpose() * b);
    EXPECT_NEAR(report.history[k], (b - products * y).norm() / b.norm(), 1e-9) << k;
  }
  EXPECT_NEAR(report.true_relative_residual, report.history.back(), 1e-14);
}

TEST_F(NonsymmetricSystem, GmresEndsAfterAsManyIterationsAsUnknownsAtMost) {
  SolveOptions options;
  options.relative_tolerance = 1e-13;
  const SolveReport report = solve_with_restart(a_, nullptr, b_, x_, options, 50);
  EXPECT_EQ(report.status, SolveStatus::converged);
  EXPECT_LE(report.iterations, kSize);
  EXPECT_LT(error(x_), 1e-11);
  for (std::size_t k = 1; k < report.history.size(); ++k) {
    EXPECT_LE(report.history[k], report.history[k - 1]);
  }
}

TEST_F(NonsymmetricSystem, GmresRestarts) {
  SolveOptions options;
  options.relative_tolerance = 1e-12;
  const SolveReport full = solve_with_restart(a_, nullptr, b_, x_, options, 100);
  for (const int restart : {1, 5, 17}) {
    for (const int replacement : {0, 3}) {
      options.replacement_interval = replacement;
      fill(x_, 0.0);
      const SolveReport report = solve_with_restart(a_, nullptr, b_, x_, options, restart);
      EXPECT_EQ(report.status, SolveStatus::converged) << restart;
      EXPECT_GE(report.iterations, full.iterations);
      EXPECT_LT(error(x_), 1e-10);
      for (std::size_t k = 1; k < report.history.size(); ++k) {
        EXPECT_LE(report.history[k], report.history[k - 1] * (1.0 + 1e-10));
      }
    }
  }
}

TEST_F(NonsymmetricSystem, BothReachTheAccuracyOfRounding) {
  const Jacobi<double> jacobi(a_);
  const NeumannSeries<double> neumann(a_, 2.0);
  for (const SolverMethod method : {SolverMethod::flexible_gmres, SolverMethod::bicgstab}) {
    for (const Preconditioning<double> m :
         {kNone<double>, Preconditioning<double>(&jacobi), Preconditioning<double>(&neumann)}) {
      fill(x_, 0.0);
      SolveOptions options;
      options.relative_tolerance = 1e-14;
      const SolveReport report = solve_by(method, a_, m, b_, x_, options);
      EXPECT_EQ(report.status, SolveStatus::converged);
      EXPECT_LT(error(x_), 1e-12);
      EXPECT_LT(report.iterations, 60);
    }
  }
}

TEST_F(NonsymmetricSystem, GmresTakesPreconditionersThatVary) {
  const VaryingPreconditioner<double> varying(a_, 0.3);
  SolveOptions options;
  options.relative_tolerance = 1e-11;
  const SolveReport report = solve_with_restart(a_, &varying, b_, x_, options, 50);
  EXPECT_EQ(report.status, SolveStatus::converged);
  EXPECT_LE(report.iterations, kSize);
  EXPECT_NEAR(report.history.back(), report.true_relative_residual, 1e-13);
  EXPECT_LT(error(x_), 1e-9);
}

// Every x.A x = 0, and the residual stays until the last iteration.
TEST_F(NonsymmetricSystem, GmresGoesThroughIterationsWithoutProgress) {
  const DenseOperator<double> shift(shift_matrix());
  HostVector<double> b(kSize);
  b[0] = 1.0;
  SolveOptions options;
  options.relative_tolerance = 1e-12;
  const SolveReport report = solve_with_restart(shift, nullptr, b, x_, options, kSize);
  EXPECT_EQ(report.status, SolveStatus::converged);
  EXPECT_EQ(report.iterations, kSize);
  EXPECT_DOUBLE_EQ(report.history[kSize - 1], 1.0);
  EXPECT_NEAR(x_[kSize - 1], 1.0, 1e-12);
}

TEST_F(NonsymmetricSystem, NoSolutionIsStagnation) {
  Eigen::MatrixXd singular = Eigen::MatrixXd::Identity(kSize, kSize);
  singular(3, 3) = 0.0;
  const DenseOperator<double> a(singular);
  // BiCGStab finds no step here either: r.A r = 0 with a skew matrix.
  const Eigen::MatrixXd shift = shift_matrix();
  const DenseOperator<double> skew(shift - shift.transpose());
  HostVector<double> b(kSize);
  b[0] = 1.0;
  EXPECT_EQ((solve_by<double, Host>(SolverMethod::bicgstab, skew, nullptr, b, x_, {}).status),
            SolveStatus::stagnated);
  for (const SolverMethod method : {SolverMethod::flexible_gmres, SolverMethod::bicgstab}) {
    HostVector<double> x(kSize);
    const SolveReport report = solve_by<double, Host>(method, a, nullptr, b_, x, {});
    EXPECT_EQ(report.status, SolveStatus::stagnated) << name_of(method);
    for (const double value : x.span()) EXPECT_TRUE(std::isfinite(value));
    // All but the entry that nothing reaches.
    EXPECT_NEAR(report.true_relative_residual, std::abs(b_[3]) / norm(b_), 1e-8);
  }
}

TEST_F(NonsymmetricSystem, OtherEndingsAreThoseOfAllMethods) {
  for (const SolverMethod method : {SolverMethod::flexible_gmres, SolverMethod::bicgstab}) {
    SolveOptions options;
    options.observer = [](int iteration, double) {
      return iteration == 3 ? Continue::no : Continue::yes;
    };
    fill(x_, 0.0);
    const SolveReport stopped = solve_by<double, Host>(method, a_, nullptr, b_, x_, options);
    EXPECT_EQ(stopped.status, SolveStatus::interrupted);
    EXPECT_EQ(stopped.iterations, 3);
    // What was found by then is in x.
    EXPECT_NEAR(stopped.true_relative_residual, stopped.history.back(), 1e-12);
    EXPECT_LT(stopped.true_relative_residual, 1.0);

    const TamperedOperator<double> bad(a_, [](int number, HostVector<double>& y) {
      if (number == 4) y[1] = std::numeric_limits<double>::quiet_NaN();
    });
    fill(x_, 0.0);
    EXPECT_EQ((solve_by<double, Host>(method, bad, nullptr, b_, x_, {}).status),
              SolveStatus::not_finite);
    const HostVector<double> zero(kSize);
    fill(x_, 0.0);
    EXPECT_EQ((solve_by<double, Host>(method, a_, nullptr, zero, x_, {}).iterations), 0);
  }
}

// One product is wrong: the residual by recurrence is then not b - A x, and the solve goes on.
TEST_F(NonsymmetricSystem, AWrongProductIsMended) {
  for (const SolverMethod method : {SolverMethod::flexible_gmres, SolverMethod::bicgstab}) {
    const auto wrong = wrong_once(a_, 4, 1.5);
    fill(x_, 0.0);
    SolveOptions options;
    options.relative_tolerance = 1e-10;
    const SolveReport report = solve_by<double, Host>(method, wrong, nullptr, b_, x_, options);
    EXPECT_EQ(report.status, SolveStatus::converged);
    EXPECT_LT(error(x_), 1e-8);
  }
}

/// y = D x + (v.x) u, with D_i from 1 to 5.
template <class T, class Space>
class DiagonalAndRankOne final : public LinearOperator<T, Space> {
 public:
  using V = Vector<T, Space>;

  explicit DiagonalAndRankOne(std::int64_t n)
      : d_(entries(n, [](double i) { return 3.0 + 2.0 * std::sin(i); })),
        u_(entries(n, [](double i) { return std::cos(0.3 * i); })),
        v_(entries(n, [n](double i) { return std::sin(0.7 * i) / static_cast<double>(n); })) {}

  static V entries(std::int64_t n, const std::function<double(double)>& value) {
    std::vector<double> values(static_cast<std::size_t>(n));
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = value(static_cast<double>(i));
    return vector_in<T, Space>(values);
  }

  std::int64_t size() const override { return d_.size(); }
  void do_apply(const V& x, V& y) const override {
    multiply(d_, x, y);
    axpy(static_cast<T>(10.0 * dot(v_, x)), u_, y);
  }
  void do_diagonal(V& d) const override { copy(d_, d); }
  Cost cost() const override { return {}; }
  std::int64_t bytes() const override { return 0; }

 private:
  V d_, u_, v_;
};

template <class W>
class NonsymmetricMethods : public EverywhereTest<W> {};
TYPED_TEST_SUITE(NonsymmetricMethods, Everywhere, NameOfWhere);

TYPED_TEST(NonsymmetricMethods, Solve) {
  using T = typename TypeParam::Scalar;
  using Space = typename TypeParam::Space;
  for (const std::int64_t n : {1, 5, 20011}) {
    const DiagonalAndRankOne<T, Space> a(n);
    const Vector<T, Space> solution =
        a.entries(n, [](double i) { return 1.0 + std::cos(0.01 * i); });
    Vector<T, Space> b(n);
    a.apply(solution, b);
    const Jacobi<T, Space> jacobi(a);
    const OpaqueScaling<T, Space> general(values_of(*jacobi.as_diagonal()));
    for (const SolverMethod method : {SolverMethod::flexible_gmres, SolverMethod::bicgstab}) {
      for (const Preconditioning<T, Space> m : {kNone<T, Space>, Preconditioning<T, Space>(&jacobi),
                                                Preconditioning<T, Space>(&general)}) {
        SCOPED_TRACE(::testing::Message() << n << ", method " << static_cast<int>(method)
                                          << ", preconditioner " << static_cast<int>(kind_of(m)));
        // So that restarts and sums of more than one launch occur.
        for (const int restart : {3, 12}) {
          Vector<T, Space> x(n);
          SolveOptions options;
          options.relative_tolerance = in_precision<T>(1e-12, 1e-5);
          const SolveReport report = make_solver(method, a, m, 1.0, restart)->solve(b, x, options);
          EXPECT_EQ(report.status, SolveStatus::converged);
          EXPECT_LT(report.iterations, 150);
          const std::vector<double> found = values_of(x);
          const std::vector<double> expected = values_of(solution);
          for (std::size_t i = 0; i < found.size(); ++i) {
            ASSERT_NEAR(found[i], expected[i], in_precision<T>(1e-9, 1e-2)) << i;
          }
        }
      }
    }
  }
}

TYPED_TEST(NonsymmetricMethods, SumDotProductsTogether) {
  using T = typename TypeParam::Scalar;
  using Space = typename TypeParam::Space;
  constexpr int kMost = 19;
  DotProducts<Space> dots(kMost);
  for (const std::int64_t n : {1, 4097, 100003}) {
    std::vector<Vector<T, Space>> x;
    for (int k = 0; k < kMost; ++k) {
      x.push_back(vector_in<T, Space>(random_values(static_cast<int>(n), 100 + k)));
    }
    for (const int count : {1, 8, 9, kMost}) {
      std::vector<const Vector<T, Space>*> terms;
      for (int k = 0; k < count; ++k) terms.push_back(&x[k]);
      std::vector<double> sums(count);
      const std::span<const Vector<T, Space>* const> of(terms);
      dots.template sum<T>(of, x[0], sums);
      const std::vector<double> first = sums;
      for (int k = 0; k < count; ++k) {
        EXPECT_NEAR(sums[k], dot(x[k], x[0]), 1e-12 * static_cast<double>(n)) << k;
      }
      dots.template sum<T>(of, x[0], sums);
      EXPECT_EQ(sums, first);
    }
  }
}

}  // namespace
}  // namespace tessera::testing
