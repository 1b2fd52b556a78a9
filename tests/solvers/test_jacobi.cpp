// These tests precondition by the diagonal.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "solvers/preconditioner.hpp"
#include "tests/everywhere.hpp"
#include "tests/solvers/operators_to_solve.hpp"
#include "tests/solvers/solve_once.hpp"

namespace tessera::testing {
namespace {

template <class T>
class JacobiPreconditioner : public ::testing::Test {
 protected:
  struct Solves {
    SolveReport without;
    SolveReport with;
    HostVector<T> x;
  };
  /// CG from zero, without and with the diagonal.
  static Solves solve_both(const LinearOperator<T, Host>& a, const HostVector<T>& b,
                           double tolerance) {
    const Jacobi<T> jacobi(a);
    SolveOptions options;
    options.relative_tolerance = tolerance;
    HostVector<T> plain(a.size());
    HostVector<T> x(a.size());
    SolveReport without = cg(a, nullptr, b, plain, options);
    SolveReport with = cg(a, &jacobi, b, x, options);
    return {std::move(without), std::move(with), std::move(x)};
  }
};

TYPED_TEST_SUITE(JacobiPreconditioner, Precisions);

TYPED_TEST(JacobiPreconditioner, DividesByTheDiagonal) {
  using T = TypeParam;
  const DenseOperator<T> a(random_spd_matrix(50, 100.0, 3));
  const HostVector<T> r = vector_of<T>(random_values(50, 5));
  const HostVector<T> z = applied(Jacobi<T>(a), r);
  for (int i = 0; i < 50; ++i) {
    const double expected = static_cast<double>(r[i]) / a.matrix()(i, i);
    EXPECT_NEAR(z[i], expected, 4 * std::numeric_limits<T>::epsilon() * std::abs(expected));
  }
}

TYPED_TEST(JacobiPreconditioner, SolvesDiagonalSystemsInOneIteration) {
  using T = TypeParam;
  const std::int64_t n = 200;
  std::vector<double> entries(static_cast<std::size_t>(n));
  for (std::int64_t i = 0; i < n; ++i) {
    entries[i] = std::pow(1e4, static_cast<double>(i) / (n - 1));
  }
  const DiagonalOperator<T> a(entries);
  const HostVector<T> b = vector_of<T>(random_values(n, 7));
  const auto [without, with, x] = this->solve_both(a, b, 1e-5);
  EXPECT_EQ(with.status, SolveStatus::converged);
  EXPECT_EQ(with.iterations, 1);
  EXPECT_GT(without.iterations, 50);
}

// S A S with the diagonal S over five decades: Jacobi undoes the scaling.
TYPED_TEST(JacobiPreconditioner, NeedsFewIterationsOnABadlyScaledMatrix) {
  using T = TypeParam;
  const int n = 60;
  Eigen::VectorXd scale(n);
  for (int i = 0; i < n; ++i) scale[i] = std::pow(10.0, 2.5 * i / (n - 1));
  const Eigen::MatrixXd A =
      scale.asDiagonal() * random_spd_matrix(n, 10.0, 11) * scale.asDiagonal();
  const DenseOperator<T> a(A);
  const HostVector<T> b = vector_of<T>(random_values(n, 13));
  const auto [without, with, x] = this->solve_both(a, b, 1e-4);
  EXPECT_EQ(with.status, SolveStatus::converged);
  EXPECT_LT(2 * with.iterations, without.iterations);
  EXPECT_LT((eigen_of(b) - A * eigen_of(x)).norm(), 1.2e-4 * norm(b));
}

}  // namespace
}  // namespace tessera::testing
