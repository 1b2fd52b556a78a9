// These tests solve diagonal systems by the variants of CG and by Richardson's iteration, on host
// and GPU.
#include <gtest/gtest.h>

#include <limits>
#include <vector>

#include "tests/everywhere.hpp"
#include "tests/solvers/diagonal_systems.hpp"
#include "tests/solvers/matrices_to_solve.hpp"
#include "tests/solvers/solve_once.hpp"

namespace tessera::testing {
namespace {

template <class W>
class DiagonalCgVariants : public EverywhereTest<W> {};
TYPED_TEST_SUITE(DiagonalCgVariants, Everywhere, NameOfWhere);

TYPED_TEST(DiagonalCgVariants, GiveTheSolution) {
  using T = typename TypeParam::Scalar;
  using Space = typename TypeParam::Space;
  const double tolerance = in_precision<T>(1e-10, 1e-5);
  for (const int n : {1, 5, 1000, 40003}) {
    const DiagonalSystem<T, Space> tested(n == 1 ? 2 : n, 100.0);
    for (const Preconditioning<T, Space> m : tested.preconditioners()) {
      SolveOptions options;
      options.relative_tolerance = tolerance;
      Vector<T, Space> standard_x(tested.size());
      const SolveReport standard = cg(tested.a(), m, tested.b(), standard_x, options);
      ASSERT_EQ(standard.status, SolveStatus::converged);
      for (const SolverMethod variant : kVariants) {
        for (const int interval : {0, 5}) {
          SCOPED_TRACE(::testing::Message()
                       << n << " unknowns, " << name_of(variant) << ", preconditioner "
                       << static_cast<int>(kind_of(m)) << ", interval " << interval);
          options.replacement_interval = interval;
          Vector<T, Space> x(tested.size());
          const SolveReport report = solve_by(variant, tested.a(), m, tested.b(), x, options);
          EXPECT_EQ(report.status, SolveStatus::converged);
          EXPECT_NEAR(report.iterations, standard.iterations, 4 + standard.iterations / 10);
          EXPECT_EQ(report.history.size(), static_cast<std::size_t>(report.iterations) + 1);
          EXPECT_LE(tested.residual_of(x), 1.2 * tolerance);
          Vector<T, Space> again(tested.size());
          EXPECT_EQ(solve_by(variant, tested.a(), m, tested.b(), again, options).history,
                    report.history);
        }
      }
    }
  }
}

TYPED_TEST(DiagonalCgVariants, HaveAnXOfTheirIterationAtTheLimit) {
  using T = typename TypeParam::Scalar;
  using Space = typename TypeParam::Space;
  const DiagonalSystem<T, Space> tested(3000, 1e4);
  for (const Preconditioning<T, Space> m : tested.preconditioners()) {
    for (const int most : {1, 2, 3, 20}) {
      SolveOptions options;
      options.relative_tolerance = 1e-300;
      options.max_iterations = most;
      for (const SolverMethod variant : kVariants) {
        Vector<T, Space> x(tested.size());
        const SolveReport report = solve_by(variant, tested.a(), m, tested.b(), x, options);
        // M A = I: nothing is left to iterate on.
        if (report.true_relative_residual < in_precision<T>(1e-12, 1e-5)) continue;
        EXPECT_EQ(report.iterations, most);
        EXPECT_NEAR(report.history.back(), tested.residual_of(x), in_precision<T>(1e-9, 1e-3))
            << name_of(variant) << ", " << most << " iterations";
      }
    }
  }
}

TYPED_TEST(DiagonalCgVariants, EndAsTheyShould) {
  using T = typename TypeParam::Scalar;
  using Space = typename TypeParam::Space;
  for (const SolverMethod variant : kVariants) {
    const auto status_of = [&](const std::vector<double>& diagonal, const SolveOptions& options) {
      const DiagonalOperator<T, Space> a(diagonal);
      Vector<T, Space> x(a.size());
      const auto b = vector_in<T, Space>(std::vector<double>(diagonal.size(), 1.0));
      return solve_by<T, Space>(variant, a, nullptr, b, x, options).status;
    };
    SCOPED_TRACE(name_of(variant));
    EXPECT_EQ(status_of({-1, -2, -3}, {}), SolveStatus::indefinite);
    EXPECT_EQ(status_of({4, 3, -0.5}, {}), SolveStatus::indefinite);
    EXPECT_EQ(status_of({1, 2, std::numeric_limits<double>::quiet_NaN()}, {}),
              SolveStatus::not_finite);
    EXPECT_EQ(status_of({1, 1, 1}, {}), SolveStatus::converged);
    SolveOptions limited;
    limited.max_iterations = 7;
    EXPECT_EQ(status_of(eigenvalues(500, 500, 1e5), limited), SolveStatus::iteration_limit);
    SolveOptions stopped;
    stopped.observer = [](int iteration, double) {
      return iteration == 4 ? Continue::no : Continue::yes;
    };
    EXPECT_EQ(status_of(eigenvalues(500, 500, 1e5), stopped), SolveStatus::interrupted);
    SolveOptions beyond;
    beyond.relative_tolerance = 1e-30;
    beyond.max_iterations = 20000;
    EXPECT_EQ(status_of(eigenvalues(50, 50, 100.0), beyond), SolveStatus::stagnated);
  }
}

// A replacement of the residual may be queued behind the iteration that fails.
TYPED_TEST(DiagonalCgVariants, AreIndefiniteWhereTheResidualIsReplacedAfterwards) {
  using T = typename TypeParam::Scalar;
  using Space = typename TypeParam::Space;
  const DiagonalOperator<T, Space> a({4, 3, 2, -0.5, 1});
  const OpaqueScaling<T, Space> m({0.3, 0.2, 0.5, 0.7, 0.9});
  const auto b = vector_in<T, Space>({1, 2, 3, 4, 5});
  for (const SolverMethod variant : kVariants) {
    for (const int interval : {0, 1, 2, 3}) {
      SCOPED_TRACE(::testing::Message() << name_of(variant) << ", interval " << interval);
      SolveOptions options;
      options.replacement_interval = interval;
      Vector<T, Space> x(b.size());
      EXPECT_EQ((solve_by<T, Space>(variant, a, &m, b, x, options).status),
                SolveStatus::indefinite);
    }
  }
}

TYPED_TEST(DiagonalCgVariants, FlexibleCgWithASymmetricPreconditionerIsCg) {
  using T = typename TypeParam::Scalar;
  using Space = typename TypeParam::Space;
  const DiagonalSystem<T, Space> tested(2000, 100.0);
  SolveOptions options;
  options.max_iterations = 6;
  options.relative_tolerance = 1e-300;
  Vector<T, Space> x(tested.size());
  Vector<T, Space> y(tested.size());
  const Preconditioning<T, Space> m = tested.preconditioners()[2];
  const SolveReport standard = cg(tested.a(), m, tested.b(), x, options);
  const SolveReport flexible = flexible_cg(tested.a(), m, tested.b(), y, options);
  ASSERT_EQ(standard.history.size(), flexible.history.size());
  for (std::size_t k = 0; k < standard.history.size(); ++k) {
    EXPECT_NEAR(standard.history[k], flexible.history[k], in_precision<T>(1e-12, 1e-4));
  }
}

template <class W>
class DiagonalRichardson : public EverywhereTest<W> {};
TYPED_TEST_SUITE(DiagonalRichardson, Everywhere, NameOfWhere);

TYPED_TEST(DiagonalRichardson, ConvergesOrDivergesByItsStep) {
  using T = typename TypeParam::Scalar;
  using Space = typename TypeParam::Space;
  const DiagonalSystem<T, Space> tested(3000, 10.0);
  for (const Preconditioning<T, Space> m : tested.preconditioners()) {
    Vector<T, Space> x(tested.size());
    SolveOptions options;
    options.relative_tolerance = in_precision<T>(1e-9, 1e-4);
    const SolveReport report = richardson(tested.a(), m, tested.b(), x, 0.18, options);
    EXPECT_EQ(report.status, SolveStatus::converged);
    EXPECT_NEAR(report.true_relative_residual, tested.residual_of(x), in_precision<T>(1e-13, 1e-6));
    EXPECT_EQ(report.history.back(), report.true_relative_residual);
  }
  Vector<T, Space> x(tested.size());
  const SolveReport report = richardson(tested.a(), nullptr, tested.b(), x, 0.3, SolveOptions{});
  EXPECT_EQ(report.status, SolveStatus::diverged);
  EXPECT_GT(report.history.back(), kMaxGrowth);
}

}  // namespace
}  // namespace tessera::testing
