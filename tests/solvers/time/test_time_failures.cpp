// These tests let steps fail, and look at what is said and left.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "solvers/interruption.hpp"
#include "solvers/time/time_integrator.hpp"
#include "tests/solvers/time/heat_in_a_bar.hpp"
#include "tests/vectors.hpp"

namespace tessera::testing {
namespace {

struct Case {
  TimeMethod method;
  int order;
  bool is_fixed;
};

void PrintTo(const Case& c, std::ostream* out) {
  *out << static_cast<int>(c.method) << ", order " << c.order << (c.is_fixed ? ", fixed" : "");
}

std::vector<Case> all_cases() {
  std::vector<Case> cases = {{TimeMethod::bdf, 5, false}};
  for (const bool is_fixed : {true, false}) {
    cases.push_back({TimeMethod::backward_euler, 1, is_fixed});
    cases.push_back({TimeMethod::sdirk, 3, is_fixed});
    cases.push_back({TimeMethod::explicit_rk, 3, is_fixed});
  }
  return cases;
}

class FailingSteps : public ::testing::TestWithParam<Case> {
 protected:
  TimeOptions options() const {
    TimeOptions chosen{.method = GetParam().method, .order = GetParam().order, .tolerance = 1e-4};
    if (GetParam().is_fixed) chosen.step = 0.01;
    return chosen;
  }
  // CVODE goes back from what it predicts, which rounds.
  void expect_unchanged(const HostVector<double>& before, const HostVector<double>& w) const {
    const double rounding = GetParam().method == TimeMethod::bdf ? 1e-14 : 0.0;
    for (std::int64_t i = 0; i < w.size(); ++i) EXPECT_NEAR(w[i], before[i], rounding);
  }
  // Steps until one fails, and expects that it says so and leaves w and t as they were, and that
  // nothing is printed.
  std::string failure_of(TimeIntegrator<Host>& integrator, const HostVector<double>& w) {
    ::testing::internal::CaptureStderr();
    std::string what;
    HostVector<double> before(w.size());
    double t = 0.0;
    try {
      while (integrator.t() < 2.0) {
        copy(w, before);
        t = integrator.t();
        integrator.step(2.0);
      }
    } catch (const TimeStepError& error) {
      what = error.what();
      EXPECT_EQ(error.t(), t);
      expect_unchanged(before, w);
      EXPECT_EQ(integrator.t(), t);
    }
    EXPECT_EQ(::testing::internal::GetCapturedStderr(), "");
    return what;
  }
};

TEST_P(FailingSteps, SayHowTheLinearSolverFailed) {
  HeatInABar bar(3);
  HostVector<double> w = bar.at(0.0);
  const auto integrator = make_time_integrator<Host>(bar, options(), w);
  bar.before_evaluation = [&](double t) {
    if (t > 0.5) bar.step_status = bar.mass_status = SolveStatus::stagnated;
  };
  const std::string what = failure_of(*integrator, w);
  EXPECT_NE(what.find("no step from t = 0."), std::string::npos) << what;
  EXPECT_NE(
      what.find("did not converge: stagnated at iteration 1, with a relative residual of 0.001"),
      std::string::npos)
      << what;
}

TEST_P(FailingSteps, SayThatNumbersAreNotFinite) {
  class Burst : public HeatInABar {
   public:
    using HeatInABar::HeatInABar;
    void evaluate(double t, const HostVector<double>& w, HostVector<double>& f) override {
      HeatInABar::evaluate(t, w, f);
      if (t > 0.5) f[0] = std::numeric_limits<double>::quiet_NaN();
    }
  };
  Burst bar(3);
  HostVector<double> w = bar.at(0.0);
  const auto integrator = make_time_integrator<Host>(bar, options(), w);
  const std::string what = failure_of(*integrator, w);
  EXPECT_NE(what.find("not finite"), std::string::npos) << what;
}

TEST_P(FailingSteps, LetExceptionsOfTheSystemThrough) {
  struct Special {
    int number;
  };
  HeatInABar bar(3);
  HostVector<double> w = bar.at(0.0);
  const auto integrator = make_time_integrator<Host>(bar, options(), w);
  bar.before_evaluation = [](double t) {
    if (t > 0.5) throw Special{7};
  };
  HostVector<double> before(3);
  try {
    while (integrator->t() < 2.0) {
      copy(w, before);
      integrator->step(2.0);
    }
    FAIL() << "the exception is lost";
  } catch (const Special& special) {
    EXPECT_EQ(special.number, 7);
  }
  expect_unchanged(before, w);
}

TEST_P(FailingSteps, AreInterruptedWhereASolveIs) {
  HeatInABar bar(3);
  HostVector<double> w = bar.at(0.0);
  const auto integrator = make_time_integrator<Host>(bar, options(), w);
  integrator->step(2.0);
  bar.step_status = bar.mass_status = SolveStatus::interrupted;
  EXPECT_THROW(integrator->step(2.0), Interrupted);
}

INSTANTIATE_TEST_SUITE_P(Methods, FailingSteps, ::testing::ValuesIn(all_cases()));

TEST(ExplicitSteps, ThatAreTooLongEndInNumbersThatAreNotFinite) {
  HeatInABar bar(30);
  HostVector<double> w = bar.at(0.0);
  const auto integrator = make_time_integrator<Host>(
      bar, {.method = TimeMethod::explicit_rk, .order = 4, .step = 0.5}, w);
  try {
    while (integrator->t() < 1e4) integrator->step(1e4);
    FAIL() << "no error";
  } catch (const TimeStepError& error) {
    EXPECT_NE(std::string(error.what()).find("not finite"), std::string::npos) << error.what();
  }
}

TEST(TimeOptionsThatAreWrong, AreRefusedInWords) {
  HeatInABar bar(3);
  HostVector<double> w = bar.at(0.0);
  const auto refusal = [&](const TimeOptions& options) -> std::string {
    try {
      make_time_integrator<Host>(bar, options, w);
    } catch (const std::invalid_argument& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(refusal({.method = TimeMethod::bdf, .order = 2, .step = 0.1}),
            "bdf has no fixed steps");
  EXPECT_EQ(refusal({.method = TimeMethod::bdf, .order = 6}), "bdf has order 1 to 5, not 6");
  EXPECT_EQ(refusal({.method = TimeMethod::sdirk, .order = 5}), "sdirk has order 2, 3 or 4, not 5");
  EXPECT_EQ(refusal({.method = TimeMethod::backward_euler, .order = 2}),
            "backward-euler has order 1, not 2");
  EXPECT_EQ(refusal({.method = TimeMethod::explicit_rk, .order = 1}),
            "explicit-rk has order 2, 3 or 4, not 1");
  EXPECT_EQ(refusal({.step = 0.0}), "the step has to be positive, and is 0");
  EXPECT_EQ(refusal({.tolerance = std::nan("")}), "the tolerance has to be positive, and is nan");
  EXPECT_EQ(refusal({}), "");
}

}  // namespace
}  // namespace tessera::testing
