// These tests let non-linear solves fail, and look at what is said and left.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

#include "tests/solvers/nonlinear/bratu.hpp"

namespace tessera::testing {
namespace {

using ::testing::HasSubstr;

/// f(u_i) = 0 for each i, with the derivative that the Jacobian has.
class Entrywise : public NonlinearSystem<Host> {
 public:
  using Function = std::function<double(double)>;

  Entrywise(Function f, Function derivative) : f_(f), derivative_(derivative), diagonal_(kSize) {}

  std::int64_t size() const override { return kSize; }
  void residual(const HostVector<double>& u, HostVector<double>& r) override {
    for (std::int64_t i = 0; i < kSize; ++i) r[i] = f_(u[i]);
  }
  void linearize(const HostVector<double>& u) override {
    for (std::int64_t i = 0; i < kSize; ++i) diagonal_[i] = derivative_(u[i]);
  }
  SolveReport solve(double, const HostVector<double>& b, HostVector<double>& x) override {
    for (std::int64_t i = 0; i < kSize; ++i) x[i] = b[i] / diagonal_[i];
    return answer;
  }

  static constexpr std::int64_t kSize = 3;
  SolveReport answer = answered(SolveStatus::converged, 1);

 private:
  Function f_;
  Function derivative_;
  HostVector<double> diagonal_;
};

Entrywise arc_tangent() {
  return {[](double u) { return std::atan(u); }, [](double u) { return 1.0 / (1.0 + u * u); }};
}

HostVector<double> constant(double value) {
  HostVector<double> u(Entrywise::kSize);
  fill(u, value);
  return u;
}

// Full steps from 3 go further and further away.
TEST(LineSearch, FindsTheRootThatFullStepsMiss) {
  Entrywise system = arc_tangent();
  HostVector<double> u = constant(3.0);
  const NonlinearReport report = solve_nonlinear<Host>(system, {}, u);
  EXPECT_EQ(report.status, NonlinearStatus::converged);
  EXPECT_NEAR(u[0], 0.0, 1e-9);
  EXPECT_LT(report.damping.front(), 0.9);
  EXPECT_NEAR(report.damping.back(), 1.0, 1e-5);
  for (std::size_t k = 1; k < report.history.size(); ++k) {
    EXPECT_LT(report.history[k], report.history[k - 1]);
  }
  u = constant(3.0);
  const NonlinearReport full = solve_nonlinear<Host>(system, {.line_search = LineSearch::off}, u);
  EXPECT_NE(full.status, NonlinearStatus::converged);
  EXPECT_NE(full.failure, "");
}

TEST(LineSearch, ShortensStepsToWhereTheResidualIsDefined) {
  // The first full step from 1 goes to -2.
  Entrywise system([](double u) { return std::log(u) + 3.0; }, [](double u) { return 1.0 / u; });
  HostVector<double> u = constant(1.0);
  const NonlinearReport report = solve_nonlinear<Host>(system, {}, u);
  EXPECT_EQ(report.status, NonlinearStatus::converged);
  EXPECT_NEAR(u[1], std::exp(-3.0), 1e-9);
  EXPECT_LT(report.damping.front(), 0.5);
}

TEST(NonlinearEndings, NoRootHasNoDecrease) {
  Entrywise system([](double u) { return u * u + 1.0; }, [](double u) { return 2.0 * u; });
  HostVector<double> u = constant(0.7);
  const NonlinearOptions options{.max_iterations = 200};
  const NonlinearReport report = solve_nonlinear<Host>(system, options, u);
  EXPECT_EQ(report.status, NonlinearStatus::no_decrease);
  EXPECT_THAT(report.failure, HasSubstr("no step makes the residual smaller in iteration"));
  EXPECT_THAT(likely_remedies(report, options), ::testing::Contains(HasSubstr("no solution")));
  EXPECT_TRUE(std::isfinite(u[0]));
}

TEST(NonlinearEndings, TooFewIterations) {
  for (const NonlinearMethod method : {NonlinearMethod::newton, NonlinearMethod::picard}) {
    // The derivative is too large, so that each step is too short.
    Entrywise system([](double u) { return u - 1.0; }, [](double) { return 4.0; });
    HostVector<double> u = constant(0.0);
    const NonlinearOptions options{.method = method, .max_iterations = 3, .acceleration = 0};
    const NonlinearReport report = solve_nonlinear<Host>(system, options, u);
    EXPECT_EQ(report.status, NonlinearStatus::iteration_limit);
    EXPECT_EQ(report.iterations, 3);
    EXPECT_EQ(report.history.size(), 4u);
    EXPECT_EQ(report.linear_iterations.size(), 3u);
    EXPECT_NEAR(u[0], 1.0 - 0.75 * 0.75 * 0.75, 1e-12);
    EXPECT_EQ(report.failure, "no solution after 3 iterations: the relative residual is 0.421875");
    EXPECT_THAT(likely_remedies(report, options)[0], HasSubstr("more iterations"));
  }
}

TEST(NonlinearEndings, TheLinearSolverFails) {
  for (const NonlinearMethod method : {NonlinearMethod::newton, NonlinearMethod::picard}) {
    Entrywise system = arc_tangent();
    system.answer = answered(SolveStatus::indefinite, 4, 0.5);
    HostVector<double> u = constant(0.5);
    const NonlinearReport report = solve_nonlinear<Host>(system, {.method = method}, u);
    EXPECT_EQ(report.status, NonlinearStatus::linear_solver_failed);
    EXPECT_EQ(report.iterations, 0);
    EXPECT_EQ(report.linear_iterations, std::vector<int>{4});
    EXPECT_EQ(report.failure,
              "in iteration 1 the linear solver did not converge: indefinite operator at iteration "
              "4, with a relative residual of 0.5");
    EXPECT_EQ(u[0], 0.5);
    // A direction is still one if its equation is not solved to the last digit.
    system.answer = answered(SolveStatus::stagnated, 4, 0.01);
    EXPECT_EQ(solve_nonlinear<Host>(system, {}, u).status, NonlinearStatus::converged);
  }
}

TEST(NonlinearEndings, NotFinite) {
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  for (const NonlinearMethod method : {NonlinearMethod::newton, NonlinearMethod::picard}) {
    Entrywise nowhere([](double) { return kNan; }, [](double) { return 1.0; });
    HostVector<double> u = constant(1.0);
    const NonlinearReport report = solve_nonlinear<Host>(nowhere, {.method = method}, u);
    EXPECT_EQ(report.status, NonlinearStatus::not_finite);
    EXPECT_EQ(report.failure, "the residual is not finite at the start");
    Entrywise at_one([](double v) { return v == 1.0 ? 1.0 : kNan; }, [](double) { return 1.0; });
    const NonlinearReport later = solve_nonlinear<Host>(at_one, {.method = method}, u);
    EXPECT_EQ(later.status, NonlinearStatus::not_finite);
    EXPECT_FALSE(likely_remedies(later, {.method = method}).empty());
  }
}

TEST(NonlinearEndings, PicardSaysThatItDiverges) {
  Entrywise system([](double u) { return u; }, [](double) { return 0.1; });
  HostVector<double> u = constant(1.0);
  const NonlinearReport report =
      solve_nonlinear<Host>(system, {.method = NonlinearMethod::picard, .acceleration = 0}, u);
  EXPECT_EQ(report.status, NonlinearStatus::no_decrease);
  EXPECT_THAT(report.failure, HasSubstr("the residual grows"));
}

TEST(NonlinearEndings, TheObserverStops) {
  for (const NonlinearMethod method : {NonlinearMethod::newton, NonlinearMethod::picard}) {
    Entrywise system([](double u) { return u - 1.0; }, [](double) { return 2.0; });
    HostVector<double> u = constant(0.0);
    std::vector<double> seen;
    NonlinearOptions options{.method = method, .acceleration = 0};
    options.observer = [&](int iteration, double relative) {
      seen.push_back(relative);
      EXPECT_EQ(iteration, static_cast<int>(seen.size()));
      return iteration == 4 ? Continue::no : Continue::yes;
    };
    const NonlinearReport report = solve_nonlinear<Host>(system, options, u);
    EXPECT_EQ(report.status, NonlinearStatus::interrupted);
    EXPECT_EQ(report.iterations, 4);
    EXPECT_EQ(seen, std::vector<double>(report.history.begin() + 1, report.history.end()));
    EXPECT_NEAR(u[0], 1.0 - 1.0 / 16.0, 1e-12);

    system.answer.status = SolveStatus::interrupted;
    EXPECT_EQ(solve_nonlinear<Host>(system, {.method = method}, u).status,
              NonlinearStatus::interrupted);
  }
}

TEST(NonlinearEndings, ExceptionsOfTheSystemArrive) {
  for (const NonlinearMethod method : {NonlinearMethod::newton, NonlinearMethod::picard}) {
    int calls = 0;
    Entrywise system(
        [&](double u) -> double {
          if (++calls > 4) throw std::range_error("no such u");
          return u * u - 2.0;
        },
        [](double u) { return 2.0 * u; });
    HostVector<double> u = constant(1.0);
    EXPECT_THROW(solve_nonlinear<Host>(system, {.method = method}, u), std::range_error);
  }
}

TEST(NonlinearEndings, OptionsHaveTheirRanges) {
  Entrywise system = arc_tangent();
  HostVector<double> u = constant(0.1);
  for (const NonlinearOptions& options :
       {NonlinearOptions{.relative_tolerance = 0.0}, NonlinearOptions{.max_iterations = 0},
        NonlinearOptions{.acceleration = -1}, NonlinearOptions{.acceleration = 16}}) {
    EXPECT_THROW(solve_nonlinear<Host>(system, options, u), std::invalid_argument);
  }
}

}  // namespace
}  // namespace tessera::testing
