// These tests check that solves which claim convergence or stagnation are right.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <vector>

#include "solvers/krylov/stagnation.hpp"
#include "tests/solvers/matrices_to_solve.hpp"
#include "tests/solvers/solve_once.hpp"
#include "tests/solvers/system_test.hpp"

// That "converged" is true, and that "stagnated" is.

namespace tessera::testing {
namespace {

template <class T>
class Claims : public SystemTest<T> {};
TYPED_TEST_SUITE(Claims, Precisions);

// One application is a little wrong: the recurrence's residual ends a little off that of x, by up
// to some tenths of the tolerance.
TYPED_TEST(Claims, OfConvergenceHoldForTheTrueResidual) {
  using T = TypeParam;
  int near_misses = 0;
  for (const SolverMethod variant : kVariants) {
    for (int step = 1; step <= 60; ++step) {
      const TamperedOperator<T> a = wrong_once(this->a_, 4, 1.0 + 1e-5 * step);
      HostVector<T> x(30);
      SolveOptions options;
      options.relative_tolerance = 1e-4;
      const SolveReport report = solve_by<T, Host>(variant, a, nullptr, this->b_, x, options);
      ASSERT_EQ(report.status, SolveStatus::converged) << step;
      EXPECT_LE(report.true_relative_residual, options.relative_tolerance) << step;
      for (const double relative : report.history) {
        if (relative <= options.relative_tolerance) ++near_misses;
      }
      --near_misses;
    }
  }
  // Some did go on after the recurrence had converged.
  EXPECT_GT(near_misses, 0);
}

/// The five-point stencil on n x n points with zero values around, by conductances of the edges
/// that are harmonic means of the points'.
class Conductor final : public LinearOperator<double, Host> {
 public:
  Conductor(int n, std::vector<double> k) : n_(n), k_(std::move(k)) {}

  std::int64_t size() const override { return std::int64_t{n_} * n_; }
  void do_apply(const HostVector<double>& x, HostVector<double>& y) const override {
    for (int j = 0; j < n_; ++j) {
      for (int i = 0; i < n_; ++i) {
        double sum = 0.0;
        for (const auto& [a, b] : {std::pair{i - 1, j}, {i + 1, j}, {i, j - 1}, {i, j + 1}}) {
          const bool inside = a >= 0 && b >= 0 && a < n_ && b < n_;
          const double here = k_[at(i, j)];
          const double there = inside ? k_[at(a, b)] : here;
          sum += 2.0 * here * there / (here + there) * (x[at(i, j)] - (inside ? x[at(a, b)] : 0.0));
        }
        y[at(i, j)] = sum;
      }
    }
  }
  void do_diagonal(HostVector<double>& d) const override { fill(d, 1.0); }
  Cost cost() const override { return {}; }
  std::int64_t bytes() const override { return 0; }

 private:
  int at(int i, int j) const { return j * n_ + i; }

  int n_;
  std::vector<double> k_;
};

// The coefficient takes all orders of magnitude from 1 to 1e8 at random. The residual neither falls
// below its first for thousands of iterations, nor does what is gained matter beside what was
// gained at first, and yet the error falls all the while.
TEST(Stagnation, IsNotSaidOfASolveThatConvergesInTheEnergyNorm) {
  constexpr int kPoints = 24;
  std::vector<double> k;
  for (const double value : random_values(kPoints * kPoints, 7)) {
    k.push_back(std::pow(1e8, 0.5 * (1.0 + value)));
  }
  const Conductor a(kPoints, k);
  HostVector<double> b(a.size());
  fill(b, 1.0);
  for (const SolverMethod variant :
       {SolverMethod::cg, SolverMethod::flexible_cg, SolverMethod::single_reduction_cg}) {
    HostVector<double> x(a.size());
    SolveOptions options;
    options.relative_tolerance = 1e-8;
    options.max_iterations = 200000;
    const SolveReport report = solve_by<double, Host>(variant, a, nullptr, b, x, options);
    EXPECT_EQ(report.status, SolveStatus::converged)
        << static_cast<int>(variant) << " after " << report.iterations;
    EXPECT_GT(report.iterations, 5000);
  }
}

// What comes of gains in the energy, where the residual stays what it is.
bool stagnates(const std::vector<double>& gains) {
  StagnationMonitor monitor;
  for (std::size_t i = 0; i < gains.size(); ++i) {
    if (monitor.stagnates(static_cast<int>(i) + 1, 1.0, gains[i])) return true;
  }
  return false;
}

TEST(Stagnation, IsWhereGainsAreSmallAndDoNotFall) {
  constexpr int kIterations = 20000;
  std::vector<double> noise(kIterations, 1e-20);
  std::vector<double> steady(kIterations, 1.0);
  std::vector<double> falling(kIterations);
  for (int i = 0; i < kIterations; ++i) falling[i] = std::exp(-0.005 * i);
  EXPECT_FALSE(stagnates(steady));
  EXPECT_FALSE(stagnates(falling));
  noise.front() = 1.0;
  EXPECT_TRUE(stagnates(noise));
  std::vector<double> then_noise = falling;
  for (int i = 3000; i < kIterations; ++i) then_noise[i] = falling[3000];
  EXPECT_TRUE(stagnates(then_noise));
}

TEST(Stagnation, IsWhereTheResidualIsBeyondAnyConditionNumber) {
  StagnationMonitor monitor;
  bool ended = monitor.stagnates(1, 1.0, 1.0);
  for (int i = 2; i < 2000 && !ended; ++i) ended = monitor.stagnates(i, 2e8, 1.0);
  EXPECT_TRUE(ended);
}

}  // namespace
}  // namespace tessera::testing
