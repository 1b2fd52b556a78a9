// These tests look at steps whose length follows a tolerance.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include "solvers/time/time_integrator.hpp"
#include "tests/solvers/time/heat_in_a_bar.hpp"
#include "tests/solvers/time/in_other_units.hpp"
#include "tests/solvers/time/method.hpp"
#include "tests/vectors.hpp"

namespace tessera::testing {
namespace {

TimeOptions with_tolerance(const Method& m, double tolerance) {
  return {.method = m.method, .order = m.order, .tolerance = tolerance};
}

class AdaptiveSteps : public ::testing::TestWithParam<Method> {};

TEST_P(AdaptiveSteps, AreAsAccurateAsTheToleranceAndHitEveryOutput) {
  const Method& m = GetParam();
  int former = 0;
  for (const double tolerance : {1e-4, 1e-5, 1e-6}) {
    HeatInABar bar(m.nodes);
    HostVector<double> w = bar.at(0.0);
    const auto integrator = make_time_integrator<Host>(bar, with_tolerance(m, tolerance), w);
    double largest = 0.0;
    int steps = 0;
    for (int output = 1; output <= 4; ++output) {
      const double until = 0.3 * output;
      double t = integrator->t();
      while (t < until) {
        const TimeStep made = integrator->step(until);
        EXPECT_NEAR(made.dt, made.t - t, 1e-15);
        EXPECT_EQ(made.t, integrator->t());
        EXPECT_LE(made.t, until);
        EXPECT_GT(made.next_dt, 0.0);
        EXPECT_LE(made.error_estimate, tolerance);
        EXPECT_GE(made.rejected, 0);
        EXPECT_GT(made.linear_iterations, 0);
        t = made.t;
        ++steps;
        largest = std::max(largest, bar.error(t, w));
        ASSERT_LT(steps, 100'000);
      }
      EXPECT_EQ(t, until);
    }
    // Errors of steps add up, where order 1 or 2 makes many of them.
    EXPECT_LE(largest, std::max(10.0, 0.2 * steps) * tolerance);
    EXPECT_GT(steps, former);
    former = steps;
  }
}

TEST_P(AdaptiveSteps, AreTheSameInOtherUnits) {
  constexpr double kUnit = 0x1p-40;
  const auto steps_in = [&](double unit) {
    HeatInABar bar(GetParam().nodes);
    InOtherUnits system(bar, unit);
    HostVector<double> w = bar.at(0.0);
    for (double& value : w.span()) value *= unit;
    TimeOptions options = with_tolerance(GetParam(), 1e-4);
    options.absolute_tolerance = 1e-4 * unit;
    const auto integrator = make_time_integrator<Host>(system, options, w);
    std::vector<double> steps;
    while (integrator->t() < 1.0) {
      const TimeStep made = integrator->step(1.0);
      EXPECT_GT(made.size, 1e-6 * unit);
      EXPECT_LT(made.size, 2.0 * unit);
      steps.push_back(made.dt);
    }
    return steps;
  };
  EXPECT_EQ(steps_in(1.0), steps_in(kUnit));
}

TEST(AdaptiveStepsOfSmallSolutions, AreAsLongAsTheAbsoluteToleranceLetsThem) {
  constexpr double kUnit = 0x1p-20;
  const auto steps_with = [&](std::optional<double> absolute_tolerance) {
    HeatInABar bar(20);
    InOtherUnits system(bar, kUnit);
    HostVector<double> w = bar.at(0.0);
    for (double& value : w.span()) value *= kUnit;
    TimeOptions options{.tolerance = 1e-6};
    options.absolute_tolerance = absolute_tolerance;
    const auto integrator = make_time_integrator<Host>(system, options, w);
    int steps = 0;
    for (; integrator->t() < 1.0; ++steps) integrator->step(1.0);
    return steps;
  };
  const int many = steps_with(1e-6 * kUnit);
  EXPECT_LT(3 * steps_with(std::nullopt), many);
  EXPECT_EQ(steps_with(std::nullopt), steps_with(1e-6));
  EXPECT_LT(steps_with(1e-4 * kUnit), many);
}

TEST_P(AdaptiveSteps, AreRejectedWhereTheSourceJumps) {
  class Jump : public HeatInABar {
   public:
    using HeatInABar::HeatInABar;
    void evaluate(double t, const HostVector<double>& w, HostVector<double>& f) override {
      HeatInABar::evaluate(t, w, f);
      if (t > 0.5) f[0] += 5.0;
    }
  };
  Jump bar(GetParam().nodes);
  HostVector<double> w = bar.at(0.0);
  const auto integrator = make_time_integrator<Host>(bar, with_tolerance(GetParam(), 1e-6), w);
  int rejected = 0;
  double shortest = 1.0;
  while (integrator->t() < 1.0) {
    const TimeStep made = integrator->step(1.0);
    rejected += made.rejected;
    if (made.t > 0.45 && made.t < 0.55) shortest = std::min(shortest, made.dt);
  }
  EXPECT_GT(rejected, 0);
  EXPECT_LT(shortest, 1e-2);
}

TEST_P(AdaptiveSteps, BeginWithTheLengthThatIsAskedFor) {
  HeatInABar bar(3);
  HostVector<double> w = bar.at(0.0);
  TimeOptions options = with_tolerance(GetParam(), 1e-4);
  options.first_step = 1e-5;
  EXPECT_NEAR(make_time_integrator<Host>(bar, options, w)->step(1.0).dt, 1e-5, 1e-19);
}

TEST_P(AdaptiveSteps, StartFromRestAndStayThere) {
  class Rest : public HeatInABar {
   public:
    using HeatInABar::HeatInABar;
    void evaluate(double, const HostVector<double>&, HostVector<double>& f) override {
      fill(f, 0.0);
    }
  };
  Rest bar(3);
  HostVector<double> w(3);
  const auto integrator = make_time_integrator<Host>(bar, with_tolerance(GetParam(), 1e-6), w);
  int steps = 0;
  while (integrator->t() < 1.0) {
    integrator->step(1.0);
    ASSERT_LT(++steps, 50);
  }
  EXPECT_EQ(w[0], 0.0);
}

INSTANTIATE_TEST_SUITE_P(
    Methods, AdaptiveSteps,
    ::testing::Values(Method{TimeMethod::backward_euler, 1, 20}, Method{TimeMethod::sdirk, 2, 20},
                      Method{TimeMethod::sdirk, 3, 20}, Method{TimeMethod::sdirk, 4, 20},
                      Method{TimeMethod::explicit_rk, 2, 2}, Method{TimeMethod::explicit_rk, 3, 2},
                      Method{TimeMethod::explicit_rk, 4, 2}, Method{TimeMethod::bdf, 1, 20},
                      Method{TimeMethod::bdf, 2, 20}, Method{TimeMethod::bdf, 3, 20},
                      Method{TimeMethod::bdf, 5, 20}),
    name_of);

TEST(AdaptiveStepsWork, OfImplicitMethodsNeedsTheMassForTheFirstStepOnly) {
  for (const int order : {2, 3, 4}) {
    HeatInABar bar(20);
    HostVector<double> w = bar.at(0.0);
    const auto integrator =
        make_time_integrator<Host>(bar, with_tolerance({TimeMethod::sdirk, order, 20}, 1e-5), w);
    int steps = 0;
    for (; integrator->t() < 1.0; ++steps) integrator->step(1.0);
    EXPECT_GT(steps, 8);
    // Two or three for the estimate of the first step, by rounding; one for its first stage.
    EXPECT_GE(bar.mass_solves, 3);
    EXPECT_LE(bar.mass_solves, 4);
  }
}

TEST_P(AdaptiveSteps, AreNoLongerThanTheLongest) {
  const Method& m = GetParam();
  constexpr double kLongest = 0.004;
  HeatInABar bar(m.nodes);
  HostVector<double> w = bar.at(0.0);
  TimeOptions options = with_tolerance(m, 1e-2);
  options.max_step = kLongest;
  const auto integrator = make_time_integrator<Host>(bar, options, w);
  double longest = 0.0;
  while (integrator->t() < 0.1) longest = std::max(longest, integrator->step(0.1).dt);
  EXPECT_LE(longest, kLongest * (1.0 + 1e-12));
  EXPECT_GT(longest, 0.5 * kLongest);
  options.max_step = 0.0;
  EXPECT_THROW(make_time_integrator<Host>(bar, options, w), std::invalid_argument);
}

}  // namespace
}  // namespace tessera::testing
