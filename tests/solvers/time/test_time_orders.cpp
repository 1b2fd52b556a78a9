// These tests look at steps of fixed length: orders, numbers of steps, the work of a step.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "mesh/threads_in_use.hpp"
#include "solvers/time/time_integrator.hpp"
#include "tests/solvers/time/heat_in_a_bar.hpp"
#include "tests/solvers/time/method.hpp"
#include "tests/vectors.hpp"

namespace tessera::testing {
namespace {

TimeOptions with_step(const Method& m, double step, double start = 0.0) {
  return {.method = m.method, .order = m.order, .start = start, .step = step};
}

double error_after(const Method& m, double step, double roughness) {
  HeatInABar bar(m.nodes, roughness);
  HostVector<double> w = bar.at(0.0);
  const auto integrator = make_time_integrator<Host>(bar, with_step(m, step), w);
  double largest = 0.0;
  while (integrator->t() < 1.0) {
    const TimeStep made = integrator->step(1.0);
    EXPECT_TRUE(std::isnan(made.error_estimate));
    largest = std::max(largest, bar.error(made.t, w));
  }
  return largest;
}

class FixedSteps : public ::testing::TestWithParam<Method> {};

TEST_P(FixedSteps, HaveTheMethodsOrder) {
  const Method& m = GetParam();
  for (const double roughness : {0.0, 0.1}) {
    // Explicit methods are as accurate for all that they are stable for.
    const double coarse = error_after(m, m.step, roughness);
    const double fine = error_after(m, 0.5 * m.step, roughness);
    const double observed = std::log2(coarse / fine);
    EXPECT_GT(observed, m.order - 0.2);
  }
}

TEST_P(FixedSteps, AreAsManyAsTheStepSays) {
  const Method& m = GetParam();
  // Sums of 0.1 are below 1 after ten steps, and above 2 after twenty.
  HeatInABar bar(3);
  HostVector<double> w = bar.at(0.0);
  const auto integrator = make_time_integrator<Host>(bar, with_step(m, 0.1), w);
  std::vector<double> gammas;
  for (const double until : {0.3, 1.0, 2.0}) {
    int steps = 0;
    while (integrator->t() < until) {
      const TimeStep made = integrator->step(until);
      EXPECT_EQ(made.dt, 0.1);
      EXPECT_EQ(made.rejected, 0);
      gammas.push_back(bar.last_gamma);
      ++steps;
    }
    EXPECT_EQ(integrator->t(), until);
    EXPECT_EQ(steps, until == 0.3 ? 3 : until == 1.0 ? 7 : 10);
  }
  // What is made for gamma lasts for all of them.
  for (const double gamma : gammas) EXPECT_EQ(gamma, gammas.front());
}

TEST_P(FixedSteps, AreShortenedAtTheEndAndFullAgainAfterIt) {
  HeatInABar bar(3);
  HostVector<double> w = bar.at(0.0);
  const auto integrator = make_time_integrator<Host>(bar, with_step(GetParam(), 0.1), w);
  EXPECT_EQ(integrator->step(0.15).dt, 0.1);
  EXPECT_NEAR(integrator->step(0.15).dt, 0.05, 1e-15);
  EXPECT_EQ(integrator->t(), 0.15);
  EXPECT_EQ(integrator->step(1.0).dt, 0.1);
  EXPECT_THROW(integrator->step(0.25), std::invalid_argument);
}

TEST_P(FixedSteps, GoOnWithTheSameBitsAfterANewBeginning) {
  HeatInABar bar(30);
  const Method& m = GetParam();
  const double step = m.method == TimeMethod::explicit_rk ? 1e-5 : 0.03;
  HostVector<double> all = bar.at(0.0);
  HostVector<double> anew = bar.at(0.0);
  const auto integrator = make_time_integrator<Host>(bar, with_step(m, step), all);
  double t = 0.0;
  for (const double until : {20.0 * step, 33.5 * step}) {
    while (t < until) {
      const ThreadsInUse threads(t < 10.0 * step ? 1 : 2);
      const auto restarted = make_time_integrator<Host>(bar, with_step(m, step, t), anew);
      restarted->step(until);
      integrator->step(until);
      t = integrator->t();
      ASSERT_EQ(restarted->t(), t);
      ASSERT_TRUE(same_bits(all, anew)) << "at t = " << t;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Methods, FixedSteps,
                         ::testing::Values(Method{TimeMethod::backward_euler, 1, 40, 0.005},
                                           Method{TimeMethod::sdirk, 2, 40, 0.02},
                                           Method{TimeMethod::sdirk, 3, 40, 0.02},
                                           Method{TimeMethod::sdirk, 4, 40, 0.02},
                                           Method{TimeMethod::explicit_rk, 2, 3, 0.005},
                                           Method{TimeMethod::explicit_rk, 3, 3, 0.005},
                                           Method{TimeMethod::explicit_rk, 4, 3, 0.005}),
                         name_of);

TEST(FixedStepsWork, IsAnEvaluationAndASolveForAStage) {
  struct Work {
    Method method;
    int evaluations, mass_applications, mass_solves, step_solves;
  };
  for (const Work& expected :
       {Work{{TimeMethod::backward_euler, 1}, 1, 0, 0, 1}, Work{{TimeMethod::sdirk, 2}, 3, 1, 0, 2},
        Work{{TimeMethod::sdirk, 3}, 4, 2, 0, 3}, Work{{TimeMethod::sdirk, 4}, 6, 4, 0, 5},
        Work{{TimeMethod::explicit_rk, 2}, 2, 0, 2, 0},
        Work{{TimeMethod::explicit_rk, 3}, 3, 0, 3, 0},
        Work{{TimeMethod::explicit_rk, 4}, 4, 0, 4, 0}}) {
    SCOPED_TRACE(::testing::PrintToString(expected.method));
    HeatInABar bar(3);
    HostVector<double> w = bar.at(0.0);
    const auto integrator = make_time_integrator<Host>(bar, with_step(expected.method, 1e-3), w);
    for (int step = 1; step <= 3; ++step) {
      const TimeStep made = integrator->step(1.0);
      EXPECT_EQ(made.linear_iterations, expected.mass_solves + expected.step_solves);
      EXPECT_EQ(bar.evaluations, step * expected.evaluations);
      EXPECT_EQ(bar.mass_applications, step * expected.mass_applications);
      EXPECT_EQ(bar.mass_solves, step * expected.mass_solves);
      EXPECT_EQ(bar.step_solves, step * expected.step_solves);
    }
  }
}

// Where M may move, ARKStep solves with it and multiplies by it.
TEST(FixedStepsOfSdirk, AreThoseOfArkstep) {
  for (const int order : {2, 3, 4}) {
    SCOPED_TRACE(order);
    const auto integrated = [&](TimeDependence dependence) {
      HeatInABar bar(40, 0.1);
      bar.dependence = dependence;
      HostVector<double> w = bar.at(0.0);
      const auto integrator =
          make_time_integrator<Host>(bar, with_step({TimeMethod::sdirk, order}, 0.03), w);
      // The last step is shorter.
      while (integrator->t() < 1.0) integrator->step(1.0);
      EXPECT_EQ(bar.mass_solves > 0, dependence == TimeDependence::mass);
      return w;
    };
    const HostVector<double> expected = integrated(TimeDependence::mass);
    const HostVector<double> w = integrated(TimeDependence::right_side);
    for (std::int64_t i = 0; i < w.size(); ++i) EXPECT_NEAR(w[i], expected[i], 1e-11);
  }
}

/// M w' = -M w, the same at all times.
class Decay final : public HeatInABar {
 public:
  Decay() : HeatInABar(1) { dependence = TimeDependence::nothing; }
  void evaluate(double /*t*/, const HostVector<double>& w, HostVector<double>& f) override {
    ++evaluations;
    f[0] = -mass() * w[0];
  }
  SolveReport solve_shifted(double /*t*/, double gamma, const HostVector<double>& b,
                            double /*norm*/, HostVector<double>& x) override {
    x[0] = b[0] / (mass() * (1.0 / gamma + 1.0));
    SolveReport report;
    report.status = SolveStatus::converged;
    return report;
  }

 private:
  double mass() {
    HostVector<double> one(1);
    one[0] = 1.0;
    return std::pow(error_norm(one), 2.0);
  }
};

TEST(FixedStepsOfSdirk, EvaluateOnceWhatDoesNotMove) {
  for (const int order : {2, 3, 4}) {
    SCOPED_TRACE(order);
    double before = 0.0;
    for (const int steps : {8, 16}) {
      Decay decay;
      HostVector<double> w(1);
      w[0] = 1.0;
      const auto integrator =
          make_time_integrator<Host>(decay, with_step({TimeMethod::sdirk, order}, 1.0 / steps), w);
      while (integrator->t() < 1.0) integrator->step(1.0);
      EXPECT_EQ(decay.evaluations, steps);
      const double error = std::abs(w[0] - std::exp(-1.0));
      if (before > 0.0) {
        EXPECT_GT(std::log2(before / error), order - 0.2);
      }
      before = error;
    }
  }
}

}  // namespace
}  // namespace tessera::testing
