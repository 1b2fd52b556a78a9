// These tests integrate systems whose vectors ranks share, which are threads.
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "mesh/threads_in_use.hpp"
#include "solvers/ranks/thread_ranks.hpp"
#include "solvers/time/time_integrator.hpp"
#include "tests/solvers/ranks/chain.hpp"
#include "tests/solvers/time/method.hpp"

namespace tessera::testing {
namespace {

constexpr std::int64_t kSize = 41;

enum class Kind { linear, cubic };

/// m_i w_i' = -a_i w_i + cos(t) or m_i w_i' = -a_i w_i^3 + cos(t): entries know nothing of each
/// other but by norms.
class Entries final : public TimeSystem<Host> {
 public:
  using V = HostVector<double>;

  Entries(const Chain& chain, Kind kind)
      : layout_(chain.layout()),
        kind_(kind),
        mass_(chain.vector(
            [](std::int64_t i) { return 1.0 + 0.1 * std::sin(static_cast<double>(i)); })),
        rate_(chain.vector([](std::int64_t i) { return 1.0 + 0.02 * static_cast<double>(i); })),
        slope_(layout_),
        scratch_(layout_) {}

  std::int64_t size() const override { return layout_.size; }
  VectorLayout layout() const override { return layout_; }
  bool is_linear() const override { return kind_ == Kind::linear; }
  void evaluate(double t, const V& w, V& f) override {
    for (std::int64_t i = 0; i < f.size(); ++i) {
      f[i] = std::cos(t) - rate_[i] * (is_linear() ? w[i] : w[i] * w[i] * w[i]);
    }
  }
  void apply_mass(const V& x, V& y) override { multiply(mass_, x, y); }
  SolveReport solve_mass(const V& b, V& x) override { return divided(b, mass_, x); }
  TimeDependence time_dependence() const override { return TimeDependence::right_side; }
  SolveReport solve_shifted(double /*t*/, double gamma, const V& b, double norm, V& x) override {
    EXPECT_EQ(norm, std::sqrt(dot(b, b)));
    for (std::int64_t i = 0; i < x.size(); ++i) slope_[i] = mass_[i] / gamma + rate_[i];
    return divided(b, slope_, x);
  }
  void linearize(double /*t*/, double gamma, const V& w) override {
    for (std::int64_t i = 0; i < w.size(); ++i) {
      slope_[i] = mass_[i] + gamma * rate_[i] * 3.0 * w[i] * w[i];
    }
  }
  SolveReport solve_linearized(double /*tolerance*/, const V& b, V& x) override {
    return divided(b, slope_, x);
  }
  double error_norm(const V& x) override {
    apply_mass(x, scratch_);
    return std::sqrt(dot(x, scratch_) / static_cast<double>(layout_.whole_size()));
  }

 private:
  static SolveReport divided(const V& b, const V& by, V& x) {
    for (std::int64_t i = 0; i < x.size(); ++i) x[i] = b[i] / by[i];
    SolveReport report;
    report.status = SolveStatus::converged;
    report.iterations = 1;
    return report;
  }

  VectorLayout layout_;
  Kind kind_;
  V mass_;
  V rate_;
  V slope_;
  V scratch_;
};

struct Way {
  Method method;
  Kind kind = Kind::linear;
  bool adapts = true;
};

/// What an integration came to; the same on all ranks.
struct Course {
  std::vector<double> times;
  std::vector<double> estimates;
  int rejected = 0;
  int nonlinear_iterations = 0;
  std::vector<double> w;
};

Course integrated(const Way& way, int count) {
  const ThreadsInUse threads(1);
  Course of_first;
  run_on_threads(count, [&](const Communicator& ranks) {
    const Chain chain(ranks, kSize);
    Entries system(chain, way.kind);
    HostVector<double> w =
        chain.vector([](std::int64_t i) { return 1.0 + std::cos(static_cast<double>(i)); });
    TimeOptions options{.method = way.method.method, .order = way.method.order, .tolerance = 1e-5};
    if (!way.adapts) options.step = 0.03;
    const auto integrator = make_time_integrator<Host>(system, options, w);
    Course course;
    while (integrator->t() < 1.0) {
      const TimeStep step = integrator->step(1.0);
      course.times.push_back(step.t);
      if (way.adapts) course.estimates.push_back(step.error_estimate);
      course.rejected += step.rejected;
      course.nonlinear_iterations += step.nonlinear_iterations;
      ASSERT_LT(course.times.size(), 10'000U);
    }
    for (const std::size_t steps : ranks.all_gather(course.times.size())) {
      ASSERT_EQ(steps, course.times.size());
    }
    for (std::size_t k = 0; k < course.times.size(); k += 7) {
      for (const double t : ranks.all_gather(course.times[k])) EXPECT_EQ(t, course.times[k]);
    }
    EXPECT_TRUE(chain.agrees(w));
    course.w = chain.gathered(w);
    if (ranks.rank() == 0) of_first = std::move(course);
  });
  return of_first;
}

class StepsOnRanks : public ::testing::TestWithParam<Way> {};

TEST_P(StepsOnRanks, AreThoseOfOneRank) {
  const Course one = integrated(GetParam(), 1);
  EXPECT_GT(one.times.size(), 5U);
  for (const int count : {2, 3, 4}) {
    const Course several = integrated(GetParam(), count);
    ASSERT_EQ(several.times.size(), one.times.size()) << count;
    EXPECT_EQ(several.rejected, one.rejected);
    EXPECT_EQ(several.nonlinear_iterations, one.nonlinear_iterations);
    for (std::size_t i = 0; i < one.w.size(); ++i) EXPECT_NEAR(several.w[i], one.w[i], 1e-9);
    const Course again = integrated(GetParam(), count);
    EXPECT_EQ(again.times, several.times);
    EXPECT_EQ(again.estimates, several.estimates);
    EXPECT_EQ(again.w, several.w);
  }
}

constexpr Method kMethods[] = {{TimeMethod::backward_euler, 1},
                               {TimeMethod::sdirk, 2},
                               {TimeMethod::sdirk, 4},
                               {TimeMethod::explicit_rk, 3},
                               {TimeMethod::bdf, 5}};

std::vector<Way> all_ways() {
  std::vector<Way> ways;
  for (const Method& method : kMethods) {
    for (const Kind kind : {Kind::linear, Kind::cubic}) {
      ways.push_back({method, kind, true});
      if (method.method != TimeMethod::bdf) ways.push_back({method, kind, false});
    }
  }
  return ways;
}

std::string name_of_way(const ::testing::TestParamInfo<Way>& info) {
  return ::testing::PrintToString(info.param.method) +
         (info.param.kind == Kind::cubic ? "Cubic" : "Linear") +
         (info.param.adapts ? "Adaptive" : "Fixed");
}

INSTANTIATE_TEST_SUITE_P(Methods, StepsOnRanks, ::testing::ValuesIn(all_ways()), name_of_way);

}  // namespace
}  // namespace tessera::testing
