// These tests solve a differential equation by Newton's and Picard's iterations.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "tests/solvers/nonlinear/bratu.hpp"

namespace tessera::testing {
namespace {

constexpr std::int64_t kNodes = 127;
constexpr double kTolerance = 1e-11;

NonlinearReport solve_bratu(Bratu& bratu, NonlinearOptions options, HostVector<double>& u) {
  options.relative_tolerance = kTolerance;
  return solve_nonlinear<Host>(bratu, options, u);
}

TEST(BratuProblem, IsSolvedByBoth) {
  for (const NonlinearMethod method : {NonlinearMethod::newton, NonlinearMethod::picard}) {
    for (const double strength : {0.1, 1.0, 3.0}) {
      Bratu bratu(kNodes, strength, method);
      HostVector<double> u(kNodes);
      const NonlinearReport report = solve_bratu(bratu, {.method = method}, u);
      EXPECT_EQ(report.status, NonlinearStatus::converged);
      EXPECT_EQ(report.failure, "");
      EXPECT_NEAR(u[kNodes / 2], Bratu::middle(strength), 2e-4) << strength;
      ASSERT_EQ(report.history.size(), static_cast<std::size_t>(report.iterations) + 1);
      EXPECT_EQ(report.history.front(), 1.0);
      EXPECT_LE(report.history.back(), kTolerance);
      EXPECT_EQ(report.linear_iterations, std::vector<int>(report.iterations, 7));
      HostVector<double> r(kNodes);
      bratu.residual(u, r);
      EXPECT_LE(std::sqrt(dot(r, r)), kTolerance * report.reference_norm * (1.0 + 1e-12));
    }
  }
}

TEST(BratuProblem, NewtonSquaresTheResidual) {
  Bratu bratu(kNodes, 3.0, NonlinearMethod::newton);
  HostVector<double> u(kNodes);
  const NonlinearReport report = solve_bratu(bratu, {}, u);
  EXPECT_LE(report.iterations, 6);
  const std::vector<double>& history = report.history;
  int squared = 0;
  for (std::size_t k = 1; k < history.size(); ++k) {
    if (history[k - 1] > 0.2 || history[k - 1] < 1e-6) continue;
    EXPECT_LT(history[k], 2.0 * history[k - 1] * history[k - 1]) << k;
    ++squared;
  }
  EXPECT_GE(squared, 2);
  for (const double damping : report.damping) EXPECT_NEAR(damping, 1.0, 1e-5);
  EXPECT_EQ(report.damping.size(), static_cast<std::size_t>(report.iterations));
  // One residual at the start and one per iteration.
  EXPECT_EQ(bratu.residuals, report.iterations + 1);
}

TEST(BratuProblem, ForcingTermsFollowTheResidual) {
  Bratu bratu(kNodes, 3.0, NonlinearMethod::newton);
  HostVector<double> u(kNodes);
  const NonlinearReport report = solve_bratu(bratu, {}, u);
  const std::vector<double>& tolerances = bratu.tolerances;
  ASSERT_EQ(tolerances.size(), static_cast<std::size_t>(report.iterations));
  for (std::size_t k = 0; k < tolerances.size(); ++k) {
    EXPECT_GE(tolerances[k], 0.99e-4) << k;
    EXPECT_LE(tolerances[k], 0.91) << k;
  }
  EXPECT_GT(tolerances.front(), 0.05);
  EXPECT_LT(*std::min_element(tolerances.begin(), tolerances.end()), 1e-2);
}

TEST(BratuProblem, AndersonBeatsThePlainFixedPoint) {
  const auto iterations = [](int acceleration) {
    Bratu bratu(kNodes, 3.0, NonlinearMethod::picard);
    HostVector<double> u(kNodes);
    const NonlinearReport report = solve_bratu(
        bratu,
        {.method = NonlinearMethod::picard, .max_iterations = 500, .acceleration = acceleration},
        u);
    EXPECT_EQ(report.status, NonlinearStatus::converged);
    EXPECT_TRUE(report.damping.empty());
    EXPECT_EQ(bratu.residuals, report.iterations + 1);
    return report.iterations;
  };
  const int plain = iterations(0);
  EXPECT_GT(plain, 25);
  EXPECT_LT(iterations(2), plain / 2);
  EXPECT_LT(iterations(5), plain / 2);
}

TEST(BratuProblem, NoSolutionIsSaid) {
  for (const NonlinearMethod method : {NonlinearMethod::newton, NonlinearMethod::picard}) {
    Bratu bratu(kNodes, 10.0, method);
    HostVector<double> u(kNodes);
    const NonlinearOptions options{.method = method};
    const NonlinearReport report = solve_bratu(bratu, options, u);
    EXPECT_NE(report.status, NonlinearStatus::converged);
    EXPECT_NE(report.status, NonlinearStatus::interrupted);
    EXPECT_NE(report.failure, "");
    EXPECT_FALSE(likely_remedies(report, options).empty());
    EXPECT_LE(bratu.residuals, 2000);
  }
}

// What the solution is near to costs fewer iterations, and nothing where it is the solution.
TEST(BratuProblem, AGoodStartHelps) {
  Bratu bratu(kNodes, 3.0, NonlinearMethod::newton);
  HostVector<double> u(kNodes);
  const NonlinearReport first = solve_bratu(bratu, {}, u);
  HostVector<double> again(kNodes);
  copy(u, again);
  NonlinearOptions options{.reference_norm = first.reference_norm};
  EXPECT_EQ(solve_bratu(bratu, options, again).iterations, 0);
  EXPECT_TRUE(same_bits(u, again));
  axpy(1e-3, u, again);
  const NonlinearReport near = solve_bratu(bratu, options, again);
  EXPECT_EQ(near.status, NonlinearStatus::converged);
  EXPECT_LT(near.iterations, first.iterations);
  EXPECT_EQ(near.reference_norm, first.reference_norm);
}

}  // namespace
}  // namespace tessera::testing
