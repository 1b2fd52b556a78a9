// These tests integrate systems that are not linear, on host and GPU.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "solvers/time/time_integrator.hpp"
#include "tests/everywhere.hpp"
#include "tests/solvers/time/in_other_units.hpp"
#include "tests/solvers/time/method.hpp"
#include "tests/vectors.hpp"

namespace tessera::testing {
namespace {

SolveReport solved_after(int iterations) {
  SolveReport report;
  report.status = SolveStatus::converged;
  report.iterations = iterations;
  return report;
}

/// m_i w_i' = m_i s' - a_i (w_i^3 - s^3) with s = 2 + sin t, which is the solution; a_i from 1 to
/// `stiffness`.
template <class Space>
class Cubic final : public TimeSystem<Space> {
 public:
  using V = Vector<double, Space>;
  /// What stands for the derivative of w^3: 3 w^2, or w^2, with which the iteration is Picard's.
  enum class Derivative { exact, of_factor };

  Cubic(std::int64_t n, double stiffness, Derivative derivative = Derivative::exact)
      : derivative_(derivative),
        mass_(entries(n, 0.5, 1.0)),
        rate_(entries(n, 1.0, stiffness)),
        cube_(n),
        inverse_(n) {}

  static double solution(double t) { return 2.0 + std::sin(t); }

  std::int64_t size() const override { return mass_.size(); }
  bool is_linear() const override { return false; }
  void evaluate(double t, const V& w, V& f) override {
    multiply(w, w, cube_);
    multiply(cube_, w, f);
    multiply(rate_, f, f);
    const double factors[] = {-1.0, std::pow(solution(t), 3.0), std::cos(t)};
    const V* const vectors[] = {&f, &rate_, &mass_};
    combine<double>(factors, vectors, f);
  }
  void apply_mass(const V& x, V& y) override { multiply(mass_, x, y); }
  SolveReport solve_mass(const V& b, V& x) override {
    copy(mass_, cube_);
    invert_entries(cube_);
    multiply(cube_, b, x);
    return solved_after(1);
  }
  SolveReport solve_shifted(double, double, const V&, double, V&) override {
    throw std::logic_error("not a linear system");
  }
  void linearize(double, double gamma, const V& w) override {
    multiply(w, w, inverse_);
    multiply(rate_, inverse_, inverse_);
    aypx(mass_, gamma * (derivative_ == Derivative::exact ? 3.0 : 1.0), inverse_);
    invert_entries(inverse_);
  }
  SolveReport solve_linearized(double, const V& b, V& x) override {
    multiply(inverse_, b, x);
    return solved_after(2);
  }
  double error_norm(const V& x) override {
    return std::sqrt(dot(x, x) / static_cast<double>(size()));
  }

 private:
  static V entries(std::int64_t n, double low, double high) {
    std::vector<double> values(static_cast<std::size_t>(n));
    for (std::int64_t i = 0; i < n; ++i) {
      values[i] = low * std::pow(high / low, static_cast<double>(i % 7) / 6.0);
    }
    return vector_in<double, Space>(values);
  }

  Derivative derivative_;
  V mass_, rate_, cube_, inverse_;
};

double largest_error(const std::vector<double>& w, double expected) {
  double largest = 0.0;
  for (const double value : w) largest = std::max(largest, std::abs(value - expected));
  return largest;
}

struct Outcome {
  double error = 0.0;
  int steps = 0;
  int nonlinear_iterations = 0;
  int linear_iterations = 0;
};

template <class Space>
Outcome integrate(TimeSystem<Space>& system, const TimeOptions& options,
                  const std::function<double(double)>& solution, double end = 1.0) {
  Vector<double, Space> w(system.size());
  fill(w, solution(0.0));
  const auto integrator = make_time_integrator<Space>(system, options, w);
  Outcome outcome;
  while (integrator->t() < end) {
    const TimeStep step = integrator->step(end);
    ++outcome.steps;
    outcome.nonlinear_iterations += step.nonlinear_iterations;
    outcome.linear_iterations += step.linear_iterations;
    outcome.error = std::max(outcome.error, largest_error(values_of(w), solution(step.t)));
  }
  return outcome;
}

TEST(NonlinearFixedStepsWork, IsTheSameInOtherUnits) {
  const auto outcome_in = [](double unit) {
    Cubic<Host> cubic(7, 1e4);
    InOtherUnits system(cubic, unit);
    const auto solution = [unit](double t) { return unit * Cubic<Host>::solution(t); };
    return integrate<Host>(system, {.order = 3, .step = 0.1}, solution);
  };
  constexpr double kUnit = 0x1p-40;
  const Outcome outcome = outcome_in(1.0);
  const Outcome scaled = outcome_in(kUnit);
  EXPECT_EQ(scaled.nonlinear_iterations, outcome.nonlinear_iterations);
  EXPECT_EQ(scaled.error / kUnit, outcome.error);
  EXPECT_LT(outcome.error, 0.1);
}

class NonlinearFixedSteps : public ::testing::TestWithParam<Method> {};

TEST_P(NonlinearFixedSteps, HaveTheMethodsOrder) {
  const Method& m = GetParam();
  for (const double stiffness : {1.0, 1e4}) {
    if (stiffness > 1.0 && m.method == TimeMethod::explicit_rk) continue;
    const auto error = [&](double step) {
      Cubic<Host> system(7, stiffness);
      const Outcome outcome = integrate<Host>(
          system, {.method = m.method, .order = m.order, .step = step}, Cubic<Host>::solution);
      EXPECT_EQ(outcome.nonlinear_iterations == 0, m.method == TimeMethod::explicit_rk);
      return outcome.error;
    };
    const double observed = std::log2(error(m.step) / error(0.5 * m.step));
    // Stages have order 2, which shows between stiff and not stiff.
    EXPECT_GT(observed, (stiffness > 1.0 ? std::min(m.order, 2) : m.order) - 0.25)
        << "stiffness " << stiffness;
  }
}

INSTANTIATE_TEST_SUITE_P(Methods, NonlinearFixedSteps,
                         ::testing::Values(Method{TimeMethod::backward_euler, 1, 0, 0.02},
                                           Method{TimeMethod::sdirk, 2, 0, 0.05},
                                           Method{TimeMethod::sdirk, 3, 0, 0.05},
                                           Method{TimeMethod::sdirk, 4, 0, 0.05},
                                           Method{TimeMethod::explicit_rk, 3, 0, 0.02},
                                           Method{TimeMethod::explicit_rk, 4, 0, 0.02}),
                         name_of);

class NonlinearAdaptiveSteps : public ::testing::TestWithParam<Method> {};

TEST_P(NonlinearAdaptiveSteps, KeepTheTolerance) {
  const Method& m = GetParam();
  for (const double tolerance : {1e-4, 1e-6}) {
    if (m.order == 1 && tolerance < 1e-5) continue;
    Cubic<Host> system(7, 1e4);
    const Outcome outcome =
        integrate<Host>(system, {.method = m.method, .order = m.order, .tolerance = tolerance},
                        Cubic<Host>::solution, 4.0);
    // Relative to w, whose largest is 3; errors of many steps of order 1 add up.
    EXPECT_LT(outcome.error, (m.order == 1 ? 90.0 : 30.0) * tolerance);
    EXPECT_GT(outcome.steps, 3);
  }
}

INSTANTIATE_TEST_SUITE_P(Methods, NonlinearAdaptiveSteps,
                         ::testing::Values(Method{TimeMethod::backward_euler, 1},
                                           Method{TimeMethod::sdirk, 2},
                                           Method{TimeMethod::sdirk, 3},
                                           Method{TimeMethod::sdirk, 4}, Method{TimeMethod::bdf, 2},
                                           Method{TimeMethod::bdf, 5}),
                         name_of);

// w' = a w (1 - w), the logistic growth, as a system of one.
class Logistic final : public TimeSystem<Host> {
 public:
  explicit Logistic(double rate) : rate_(rate) {}

  double solution(double t) const { return 1.0 / (1.0 + 99.0 * std::exp(-rate_ * t)); }

  std::int64_t size() const override { return 1; }
  bool is_linear() const override { return false; }
  void evaluate(double, const HostVector<double>& w, HostVector<double>& f) override {
    f[0] = rate_ * w[0] * (1.0 - w[0]);
  }
  void apply_mass(const HostVector<double>& x, HostVector<double>& y) override { copy(x, y); }
  SolveReport solve_mass(const HostVector<double>& b, HostVector<double>& x) override {
    copy(b, x);
    return solved_after(0);
  }
  SolveReport solve_shifted(double, double, const HostVector<double>&, double,
                            HostVector<double>&) override {
    throw std::logic_error("not a linear system");
  }
  void linearize(double, double gamma, const HostVector<double>& w) override {
    jacobian_ = 1.0 - gamma * rate_ * (1.0 - 2.0 * w[0]);
  }
  SolveReport solve_linearized(double, const HostVector<double>& b,
                               HostVector<double>& x) override {
    x[0] = b[0] / jacobian_;
    return answer;
  }
  double error_norm(const HostVector<double>& x) override { return std::abs(x[0]); }

  SolveReport answer = solved_after(1);

 private:
  double rate_;
  double jacobian_ = 1.0;
};

// From 0.01 through the inflection to rest, where hardly anything is left to iterate on.
TEST(LogisticGrowth, IsFollowedToItsRest) {
  for (const Method& m : {Method{TimeMethod::sdirk, 3}, Method{TimeMethod::bdf, 5}}) {
    Logistic logistic(1000.0);
    HostVector<double> w(1);
    w[0] = logistic.solution(0.0);
    const TimeOptions options{.method = m.method, .order = m.order, .tolerance = 1e-6};
    const auto integrator = make_time_integrator<Host>(logistic, options, w);
    int steps = 0;
    while (integrator->t() < 100.0) {
      const TimeStep step = integrator->step(100.0);
      // Errors grow as w does, a hundred times.
      EXPECT_NEAR(w[0], logistic.solution(step.t), 5e-4);
      ++steps;
    }
    EXPECT_NEAR(w[0], 1.0, 1e-6);
    EXPECT_LT(steps, 500);
  }
}

TEST(LogisticGrowth, StaysAtZero) {
  Logistic logistic(1000.0);
  HostVector<double> w(1);
  fill(w, 0.0);
  const auto integrator = make_time_integrator<Host>(logistic, {.order = 3, .step = 0.5}, w);
  for (int i = 0; i < 4; ++i) integrator->step(100.0);
  EXPECT_EQ(w[0], 0.0);
}

// Another Jacobian makes it another iteration to the same solution.
TEST(NonlinearStages, AreTheSameByPicard) {
  const TimeOptions options{.order = 3, .step = 0.05, .max_nonlinear_iterations = 60};
  Cubic<Host> newton(7, 1.0);
  Cubic<Host> picard(7, 1.0, Cubic<Host>::Derivative::of_factor);
  const Outcome by_newton = integrate<Host>(newton, options, Cubic<Host>::solution);
  const Outcome by_picard = integrate<Host>(picard, options, Cubic<Host>::solution);
  EXPECT_NEAR(by_newton.error, by_picard.error, 1e-9);
  EXPECT_GT(by_picard.nonlinear_iterations, by_newton.nonlinear_iterations);
  // Three stages of three or four iterations, and a solve with the mass for the first.
  EXPECT_LE(by_newton.nonlinear_iterations, 20 * 3 * 4);
  EXPECT_EQ(by_newton.linear_iterations, 2 * by_newton.nonlinear_iterations + by_newton.steps);
}

TEST(NonlinearStages, SayWhyTheyFail) {
  const auto failure = [](Logistic& logistic, const TimeOptions& options) -> std::string {
    HostVector<double> w(1);
    w[0] = logistic.solution(0.0);
    const auto integrator = make_time_integrator<Host>(logistic, options, w);
    try {
      while (integrator->t() < 100.0) integrator->step(100.0);
    } catch (const TimeStepError& error) {
      return error.what();
    }
    return "";
  };
  const TimeOptions fixed{.method = TimeMethod::backward_euler, .order = 1, .step = 0.01};
  Logistic logistic(1000.0);
  TimeOptions few = fixed;
  few.max_nonlinear_iterations = 2;
  EXPECT_EQ(failure(logistic, few),
            "no step from t = 0, of length 0.01: the iteration for a stage has not converged in 2 "
            "iterations");
  logistic.answer.status = SolveStatus::not_finite;
  EXPECT_THAT(failure(logistic, fixed),
              ::testing::HasSubstr("the linear solver of a stage did not converge: not finite"));
  // Good enough for a direction.
  logistic.answer.status = SolveStatus::stagnated;
  logistic.answer.true_relative_residual = 1e-3;
  EXPECT_EQ(failure(logistic, {.tolerance = 1e-5}), "");
  // A growth without end.
  Logistic explosion(-1.0);
  HostVector<double> w(1);
  w[0] = 2.0;
  const auto integrator = make_time_integrator<Host>(explosion, {.tolerance = 1e-6}, w);
  EXPECT_THROW(
      {
        while (integrator->t() < 2.0) integrator->step(2.0);
      },
      TimeStepError);
  EXPECT_NEAR(integrator->t(), std::log(2.0), 1e-4);
  EXPECT_THROW(failure(logistic, {.max_nonlinear_iterations = 0}), std::invalid_argument);
  EXPECT_THROW(failure(logistic, {.nonlinear_tolerance = 0.0}), std::invalid_argument);
}

template <class W>
class NonlinearSteps : public EverywhereTest<W> {};
TYPED_TEST_SUITE(NonlinearSteps, Everywhere, NameOfWhere);

TYPED_TEST(NonlinearSteps, FollowTheSolution) {
  using Space = typename TypeParam::Space;
  if constexpr (std::is_same_v<typename TypeParam::Scalar, double>) {
    for (const TimeOptions& options :
         {TimeOptions{.order = 3, .step = 0.02}, TimeOptions{.order = 4, .tolerance = 1e-6},
          TimeOptions{.method = TimeMethod::bdf, .order = 5, .tolerance = 1e-6}}) {
      Cubic<Space> system(20011, 1e3);
      const Outcome outcome = integrate<Space>(system, options, Cubic<Space>::solution);
      EXPECT_LT(outcome.error, 3e-5);
      EXPECT_GT(outcome.nonlinear_iterations, outcome.steps);
    }
  }
}

}  // namespace
}  // namespace tessera::testing
