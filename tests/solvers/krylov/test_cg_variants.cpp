// These tests compare the variants of CG with each other.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <set>
#include <vector>

#include "tests/solvers/matrices_to_solve.hpp"
#include "tests/solvers/system_test.hpp"

namespace tessera::testing {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

template <class T>
class CgVariants : public SystemTest<T> {
 protected:
  static constexpr double kTolerance = in_precision<T>(1e-10, 1e-5);
};
TYPED_TEST_SUITE(CgVariants, Precisions);

TYPED_TEST(CgVariants, GiveTheSolution) {
  using T = TypeParam;
  for (const int n : {1, 2, 17, 63}) {
    for (const double condition : {1.0, 10.0, 300.0}) {
      const DenseOperator<T> a(random_spd_matrix(n, condition, 3));
      const WithFusedForms<T> fused(a);
      const Jacobi<T> jacobi(a);
      const NeumannSeries<T> neumann(a, condition);
      const HostVector<T> b = vector_of<T>(random_values(n, 5));
      const Eigen::VectorXd expected = solved(a.matrix(), eigen_of(b));
      SolveOptions options;
      options.relative_tolerance = this->kTolerance * std::sqrt(condition);
      options.reference_norm = norm(b);
      for (const Preconditioning<T> m :
           {kNone<T>, Preconditioning<T>(&jacobi), Preconditioning<T>(&neumann)}) {
        for (const SolverMethod variant : kVariants) {
          for (const int interval : {0, 7}) {
            for (const LinearOperator<T, Host>* form :
                 {static_cast<const LinearOperator<T, Host>*>(&a),
                  static_cast<const LinearOperator<T, Host>*>(&fused)}) {
              SCOPED_TRACE(::testing::Message()
                           << name_of(variant) << ", " << n << " unknowns, condition " << condition
                           << ", preconditioner " << static_cast<int>(kind_of(m)) << ", interval "
                           << interval << (form == &a ? "" : ", fused"));
              options.replacement_interval = interval;
              HostVector<T> x = vector_of<T>(random_values(n, 7));
              const SolveReport report = solve_by<T, Host>(variant, *form, m, b, x, options);
              ASSERT_EQ(report.status, SolveStatus::converged);
              ASSERT_EQ(report.history.size(), static_cast<std::size_t>(report.iterations) + 1);
              EXPECT_LE(report.true_relative_residual, options.relative_tolerance);
              // |x - A^-1 b| <= |A^-1| |b - A x|, and |A^-1| = 1.
              EXPECT_LT((eigen_of(x) - expected).norm(),
                        1.2 * options.relative_tolerance * eigen_of(b).norm() + 1e-15);
            }
          }
        }
      }
    }
  }
}

TYPED_TEST(CgVariants, TakeAsManyIterationsAsCg) {
  using T = TypeParam;
  const FivePointOperator<T> a(40);
  const Jacobi<T> jacobi(a);
  const NeumannSeries<T> neumann(a, 8.0);
  const HostVector<T> b = vector_of<T>(random_values(a.size(), 5));
  for (const Preconditioning<T> m :
       {kNone<T>, Preconditioning<T>(&jacobi), Preconditioning<T>(&neumann)}) {
    SolveOptions options;
    options.relative_tolerance = std::is_same_v<T, double> ? 1e-9 : 1e-3;
    HostVector<T> standard_x(a.size());
    const SolveReport standard = cg<T, Host>(a, m, b, standard_x, options);
    EXPECT_GT(standard.iterations, 20);
    for (const SolverMethod variant : kVariants) {
      for (const int interval : {0, 20}) {
        options.replacement_interval = interval;
        HostVector<T> x(a.size());
        const SolveReport report = solve_by<T, Host>(variant, a, m, b, x, options);
        EXPECT_EQ(report.status, SolveStatus::converged);
        // Some more where the residual of the recurrence is below the tolerance, the true one not.
        EXPECT_NEAR(report.iterations, standard.iterations, 3 + standard.iterations / 8)
            << name_of(variant) << ", interval " << interval;
      }
    }
  }
}

TYPED_TEST(CgVariants, HaveTheIteratesOfCg) {
  using T = TypeParam;
  const Jacobi<T> jacobi(this->a_);
  const NeumannSeries<T> neumann(this->a_, 100.0);
  SolveOptions options;
  options.relative_tolerance = 0.0;
  for (const Preconditioning<T> m :
       {kNone<T>, Preconditioning<T>(&jacobi), Preconditioning<T>(&neumann)}) {
    for (const int most : {1, 2, 3, 6}) {
      options.max_iterations = most;
      HostVector<T> expected(30);
      const SolveReport standard = cg<T, Host>(this->a_, m, this->b_, expected, options);
      for (const SolverMethod variant : kVariants) {
        HostVector<T> x(30);
        const SolveReport report = solve_by<T, Host>(variant, this->a_, m, this->b_, x, options);
        EXPECT_EQ(report.status, SolveStatus::iteration_limit);
        EXPECT_EQ(report.iterations, most);
        const double precision = 1e3 * std::numeric_limits<T>::epsilon();
        EXPECT_LT((eigen_of(x) - eigen_of(expected)).norm(), precision * norm(expected))
            << name_of(variant) << ", " << most << " iterations";
        EXPECT_NEAR(report.true_relative_residual, standard.true_relative_residual, precision);
        EXPECT_NEAR(report.history.back(), report.true_relative_residual, precision);
      }
    }
  }
}

TYPED_TEST(CgVariants, FromTheSolutionOrForZeroTakeNoIteration) {
  using T = TypeParam;
  const DiagonalOperator<T> a({1, 2, 4, 8, 16});
  const Jacobi<T> jacobi(a);
  const HostVector<T> expected = vector_of<T>({3, -1, 2, 0.5, -7});
  const HostVector<T> b = applied(a, expected);
  const auto expect_none = [](const SolveReport& report) {
    EXPECT_EQ(report.status, SolveStatus::converged);
    EXPECT_EQ(report.iterations, 0);
    EXPECT_EQ(report.history, std::vector<double>{0.0});
    EXPECT_EQ(report.true_relative_residual, 0.0);
  };
  for (const SolverMethod variant : kVariants) {
    for (const Preconditioning<T> m : {kNone<T>, Preconditioning<T>(&jacobi)}) {
      HostVector<T> x = on_host(expected);
      for (const double reference : {0.0, norm(b)}) {
        SolveOptions options;
        options.reference_norm = reference;
        expect_none(solve_by<T, Host>(variant, a, m, b, x, options));
        EXPECT_TRUE(same_bits(x, expected));
      }
      const HostVector<T> zero(5);
      HostVector<T> solution(5);
      expect_none(solve_by<T, Host>(variant, a, m, zero, solution, {}));
      EXPECT_EQ(norm(solution), 0.0);
      SolveOptions options;
      options.relative_tolerance = 1e-5;
      const SolveReport from_elsewhere = solve_by<T, Host>(variant, a, m, zero, x, options);
      EXPECT_EQ(from_elsewhere.status, SolveStatus::converged);
      EXPECT_GT(from_elsewhere.iterations, 0);
      EXPECT_LT(norm(x), 1e-3);
    }
  }
}

// p.Ap is 0 or negative at once, or in the second iteration, when it is known by recurrence.
TYPED_TEST(CgVariants, SayThatOperatorsAreIndefinite) {
  using T = TypeParam;
  const HostVector<T> ones = vector_of<T>(std::vector<double>{1, 1, 1});
  struct Case {
    std::vector<double> diagonal;
    int iterations;
  };
  for (const SolverMethod variant : kVariants) {
    for (const Case& tested :
         {Case{{-1, -2, -3}, 0}, Case{{0, 0, 0}, 0}, Case{{1, 1, -2}, 0}, Case{{4, 3, -0.5}, 1}}) {
      const DiagonalOperator<T> a(tested.diagonal);
      HostVector<T> x(3);
      const SolveReport report = solve_by<T, Host>(variant, a, nullptr, ones, x, {});
      EXPECT_EQ(report.status, SolveStatus::indefinite) << name_of(variant);
      EXPECT_EQ(report.iterations, tested.iterations) << name_of(variant);
      EXPECT_EQ(report.history.size(), static_cast<std::size_t>(tested.iterations) + 1);
      EXPECT_TRUE(std::isfinite(report.true_relative_residual));
      for (const T value : x.span()) EXPECT_TRUE(std::isfinite(value));
    }
  }
}

TYPED_TEST(CgVariants, AreNotFiniteWhereTheOperatorTurnsBad) {
  using T = TypeParam;
  for (const SolverMethod variant : kVariants) {
    for (const int application : {1, 2, 3, 6}) {
      const TamperedOperator<T> a(this->a_, [&](int number, HostVector<T>& y) {
        if (number >= application) y[3] = static_cast<T>(kNan);
      });
      HostVector<T> x(30);
      const SolveReport report = solve_by<T, Host>(variant, a, nullptr, this->b_, x, {});
      EXPECT_EQ(report.status, SolveStatus::not_finite) << name_of(variant);
      EXPECT_LE(report.iterations, application) << name_of(variant);
    }
  }
}

TYPED_TEST(CgVariants, StopWhereTheObserverAsks) {
  using T = TypeParam;
  const NeumannSeries<T> neumann(this->a_, 100.0);
  const auto check = [&](SolverMethod variant, const LinearOperator<T, Host>& a,
                         Preconditioning<T> m, int stop) {
    int calls = 0;
    SolveOptions options;
    options.observer = [&](int iteration, double) {
      EXPECT_EQ(iteration, ++calls);
      return iteration == stop ? Continue::no : Continue::yes;
    };
    HostVector<T> x(30);
    const SolveReport report = solve_by<T, Host>(variant, a, m, this->b_, x, options);
    EXPECT_EQ(report.status, SolveStatus::interrupted);
    EXPECT_EQ(report.iterations, stop);
    EXPECT_EQ(calls, stop);
    SolveOptions limited;
    limited.max_iterations = stop;
    HostVector<T> expected(30);
    const SolveReport unhindered = solve_by<T, Host>(variant, a, m, this->b_, expected, limited);
    EXPECT_EQ(unhindered.status, SolveStatus::iteration_limit);
    EXPECT_TRUE(same_bits(x, expected));
    EXPECT_EQ(report.history, unhindered.history);
    EXPECT_EQ(report.true_relative_residual, unhindered.true_relative_residual);
  };
  for (const SolverMethod variant : kVariants) {
    for (const Preconditioning<T> m : {kNone<T>, Preconditioning<T>(&neumann)}) {
      for (const int stop : {1, 5}) {
        SCOPED_TRACE(::testing::Message() << name_of(variant) << ", " << stop << " iterations");
        check(variant, this->a_, m, stop);
        check(variant, WithFusedForms<T>(this->a_), m, stop);
      }
    }
  }
}

TYPED_TEST(CgVariants, BeyondRoundingAreStagnated) {
  using T = TypeParam;
  const auto solve = [&](SolverMethod variant, const LinearOperator<T, Host>& a) {
    SCOPED_TRACE(name_of(variant));
    HostVector<T> x(30);
    SolveOptions options;
    options.relative_tolerance = 1e-30;
    options.max_iterations = 100000;
    SolveReport report = solve_by<T, Host>(variant, a, nullptr, this->b_, x, options);
    EXPECT_EQ(report.status, SolveStatus::stagnated);
    EXPECT_GT(report.true_relative_residual, 1e-20);
    EXPECT_LT(report.true_relative_residual, 1e3 * std::numeric_limits<T>::epsilon());
    EXPECT_LT(report.iterations, 3000);
    return report;
  };
  for (const SolverMethod variant : kVariants) solve(variant, this->a_);
  // The recurrence says 1e-30, what is returned does not, and the report does not hide it.
  EXPECT_LE(solve(SolverMethod::cg, this->a_).history.back(), 1e-30);
  EXPECT_LT(solve(SolverMethod::cg, WithFusedForms<T>(this->a_)).iterations, 2000);
}

// The recurrence's residual is not that of x any more, and the iteration restarts from the true
// one.
TYPED_TEST(CgVariants, AreConvergedOnlyWhereTheTrueResidualIs) {
  using T = TypeParam;
  const auto check = [&](SolverMethod variant, const LinearOperator<T, Host>& wrong) {
    SCOPED_TRACE(name_of(variant));
    HostVector<T> x(30);
    SolveOptions options;
    options.relative_tolerance = 1e-4;
    const SolveReport report = solve_by<T, Host>(variant, wrong, nullptr, this->b_, x, options);
    EXPECT_EQ(report.status, SolveStatus::converged);
    EXPECT_LE(report.true_relative_residual, 1e-4);
    EXPECT_LE(this->residual_norm(x), 1.2e-4 * eigen_of(this->b_).norm());
    EXPECT_LT((eigen_of(x) - this->solution()).norm(), 1.2e-4 * eigen_of(this->b_).norm());
    EXPECT_EQ(report.history.size(), static_cast<std::size_t>(report.iterations) + 1);
  };
  for (const SolverMethod variant : kVariants) {
    check(variant, wrong_once(this->a_, 4, 1.5));
    const TamperedOperator<T> wrong = wrong_once(this->a_, 4, 1.5);
    check(variant, WithFusedForms<T>(wrong));
  }
}

// One application is wrong; replaced, the recurrence's residual is the true one again.
TYPED_TEST(CgVariants, ReplaceTheResidualWhereAsked) {
  using T = TypeParam;
  for (const SolverMethod variant : kVariants) {
    // Pipelined CG amplifies errors: a larger one spoils p.Ap, and it starts again on its own.
    const double error = variant == SolverMethod::pipelined_cg ? 0x1p-10 : 0x1p-4;
    for (const int interval : {0, 8}) {
      const TamperedOperator<T> a = wrong_once(this->a_, 5, 1.0 + error);
      SolveOptions options;
      options.relative_tolerance = 0.0;
      options.max_iterations = 10;
      options.replacement_interval = interval;
      HostVector<T> x(30);
      const SolveReport report = solve_by<T, Host>(variant, a, nullptr, this->b_, x, options);
      const double true_residual = report.true_relative_residual;
      const double drift = std::abs(report.history.back() - true_residual);
      if (interval == 0) {
        EXPECT_GT(drift, 3e-3 * true_residual) << name_of(variant);
      } else {
        EXPECT_LT(drift, 1e-3 * true_residual) << name_of(variant);
      }
    }
  }
}

TYPED_TEST(CgVariants, AreTheSameBitsForAnyNumberOfThreads) {
  using T = TypeParam;
  const std::int64_t n = 20000;
  std::vector<double> entries = random_values(n, 67);
  for (double& entry : entries) entry = 1.5 + entry;
  const DiagonalOperator<T> a(entries);
  for (double& entry : entries) entry = std::sqrt(entry);
  const DiagonalOperator<T> root(entries);
  const Jacobi<T> scaling(root);
  const HostVector<T> b = vector_of<T>(random_values(n, 71));
  for (const SolverMethod variant : kVariants) {
    for (const Preconditioning<T> m : {kNone<T>, Preconditioning<T>(&scaling)}) {
      const auto solve = [&](int threads, HostVector<T>& x) {
        const ThreadsInUse count(threads);
        SolveOptions options;
        options.relative_tolerance = 1e-4;
        return solve_by<T, Host>(variant, a, m, b, x, options).history;
      };
      HostVector<T> expected(n);
      const std::vector<double> expected_history = solve(1, expected);
      for (const int threads : {2, 3, 4}) {
        HostVector<T> x(n);
        EXPECT_EQ(solve(threads, x), expected_history) << name_of(variant);
        EXPECT_TRUE(same_bits(x, expected)) << name_of(variant);
      }
    }
  }
}

// Rounding in pipelined CG's recurrences keeps b - A x above 1e-10 ||b|| here, where cg() and
// pipelined CG with replacements reach 1e-12.
TEST(PipelinedCg, ReachesCgsToleranceByReplacementAlone) {
  const FivePointOperator<double> a(300);
  const Jacobi<double> jacobi(a);
  const HostVector<double> b = vector_of<double>(random_values(a.size(), 5));
  for (const Preconditioning<double> m : {kNone<double>, Preconditioning<double>(&jacobi)}) {
    SolveOptions options;
    options.relative_tolerance = 1e-12;
    options.max_iterations = 3000;
    HostVector<double> standard_x(a.size());
    const SolveReport standard = cg<double, Host>(a, m, b, standard_x, options);
    ASSERT_EQ(standard.status, SolveStatus::converged);
    HostVector<double> single_x(a.size());
    const SolveReport single = single_reduction_cg<double, Host>(a, m, b, single_x, options);
    EXPECT_EQ(single.status, SolveStatus::converged);
    EXPECT_NEAR(single.iterations, standard.iterations, standard.iterations / 8);
    options.max_iterations = standard.iterations + standard.iterations / 20;
    HostVector<double> without_x(a.size());
    const SolveReport without = pipelined_cg<double, Host>(a, m, b, without_x, options);
    EXPECT_NE(without.status, SolveStatus::converged);
    EXPECT_GT(without.true_relative_residual, 1e-11);
    options.replacement_interval = 50;
    HostVector<double> x(a.size());
    const SolveReport report = pipelined_cg<double, Host>(a, m, b, x, options);
    EXPECT_EQ(report.status, SolveStatus::converged);
    EXPECT_NEAR(report.iterations, standard.iterations, 3);
    RecordProperty("true_residual_without_replacement",
                   std::to_string(without.true_relative_residual * 1e12) + "e-12");
  }
}

TEST(FlexibleCg, ConvergesWithAPreconditionerThatVaries) {
  const FivePointOperator<double> a(60);
  const HostVector<double> b = vector_of<double>(random_values(a.size(), 5));
  SolveOptions options;
  options.relative_tolerance = 1e-6;
  options.max_iterations = 1000;
  const auto solve = [&](SolverMethod variant) {
    const VaryingPreconditioner<double> m(a, 0.3);
    HostVector<double> x(a.size());
    return solve_by<double, Host>(variant, a, &m, b, x, options);
  };
  const SolveReport flexible = solve(SolverMethod::flexible_cg);
  EXPECT_EQ(flexible.status, SolveStatus::converged);
  const SolveReport standard = solve(SolverMethod::cg);
  EXPECT_GT(standard.iterations, 3 * flexible.iterations / 2);
}

TEST(FlexibleCg, WithoutPreconditionerIsCg) {
  const DenseOperator<double> a(random_spd_matrix(30, 100.0, 3));
  const Jacobi<double> jacobi(a);
  const HostVector<double> b = vector_of<double>(random_values(30, 5));
  for (const Preconditioning<double> m : {kNone<double>, Preconditioning<double>(&jacobi)}) {
    HostVector<double> x(30);
    HostVector<double> y(30);
    EXPECT_EQ((cg<double, Host>(a, m, b, x, {}).history),
              (flexible_cg<double, Host>(a, m, b, y, {}).history));
    EXPECT_TRUE(same_bits(x, y));
  }
}

}  // namespace
}  // namespace tessera::testing
