// These tests integrate a large diagonal system, on host and GPU and on several threads.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "mesh/threads_in_use.hpp"
#include "solvers/time/time_integrator.hpp"
#include "tests/everywhere.hpp"
#include "tests/vectors.hpp"

namespace tessera::testing {
namespace {

/// m_i w_i' = m_i cos(t) - a_i (w_i - sin(t) - 1), whose solution from 1 is sin(t) + 1.
template <class Space>
class DiagonalSystem final : public TimeSystem<Space> {
 public:
  using V = Vector<double, Space>;

  explicit DiagonalSystem(std::int64_t n)
      : mass_(entries(n, 0.5, 1.0)),
        rate_(entries(n, 0.1, 1e4)),
        ones_(n),
        inverse_(n),
        difference_(n) {
    fill(ones_, 1.0);
  }

  std::int64_t size() const override { return mass_.size(); }
  void evaluate(double t, const V& w, V& f) override {
    sum({-1.0, std::sin(t) + 1.0}, {&w, &ones_}, difference_);
    multiply(rate_, difference_, f);
    sum({1.0, std::cos(t)}, {&f, &mass_}, f);
  }
  void apply_mass(const V& x, V& y) override { multiply(mass_, x, y); }
  SolveReport solve_mass(const V& b, V& x) override { return solve(1.0, 0.0, b, x); }
  TimeDependence time_dependence() const override { return TimeDependence::right_side; }
  SolveReport solve_shifted(double, double gamma, const V& b, double norm, V& x) override {
    EXPECT_NEAR(norm, std::sqrt(dot(b, b)), 1e-12 * norm);
    return solve(1.0 / gamma, 1.0, b, x);
  }
  double error_norm(const V& x) override {
    return std::sqrt(dot(x, x) / static_cast<double>(size()));
  }

 private:
  static V entries(std::int64_t n, double low, double high) {
    std::vector<double> values(n);
    for (std::int64_t i = 0; i < n; ++i) {
      values[i] = low * std::pow(high / low, static_cast<double>(i % 101) / 100.0);
    }
    return vector_in<double, Space>(values);
  }
  static void sum(std::vector<double> factors, std::vector<const V*> vectors, V& y) {
    combine<double>(factors, vectors, y);
  }
  SolveReport solve(double mass, double rate, const V& b, V& x) {
    sum({mass, rate}, {&mass_, &rate_}, inverse_);
    invert_entries(inverse_);
    multiply(inverse_, b, x);
    SolveReport report;
    report.status = SolveStatus::converged;
    report.iterations = 1;
    return report;
  }

  V mass_;
  V rate_;
  V ones_;
  V inverse_;
  V difference_;
};

constexpr std::int64_t kSize = 30'003;

template <class Space>
HostVector<double> solution_at_one(const TimeOptions& options) {
  DiagonalSystem<Space> system(kSize);
  Vector<double, Space> w(kSize);
  fill(w, 1.0);
  const auto integrator = make_time_integrator<Space>(system, options, w);
  while (integrator->t() < 1.0) integrator->step(1.0);
  return on_host(w);
}

const std::vector<TimeOptions>& all_options() {
  static const std::vector<TimeOptions> all = {
      {.method = TimeMethod::backward_euler, .order = 1, .step = 0.005},
      {.method = TimeMethod::sdirk, .order = 2, .step = 0.02},
      {.method = TimeMethod::sdirk, .order = 3, .step = 0.02},
      {.method = TimeMethod::sdirk, .order = 4, .step = 0.02},
      {.method = TimeMethod::backward_euler, .order = 1, .tolerance = 1e-4},
      {.method = TimeMethod::sdirk, .order = 2, .tolerance = 1e-5},
      {.method = TimeMethod::sdirk, .order = 3, .tolerance = 1e-5},
      {.method = TimeMethod::bdf, .order = 5, .tolerance = 1e-5}};
  return all;
}

template <class W>
class LargeSystems : public EverywhereTest<W> {};
using Spaces =
    std::conditional_t<kHasCuda, ::testing::Types<Where<double, Host>, Where<double, Device>>,
                       ::testing::Types<Where<double, Host>>>;
TYPED_TEST_SUITE(LargeSystems, Spaces, NameOfWhere);

TYPED_TEST(LargeSystems, AreSolvedWithEveryMethod) {
  for (const TimeOptions& options : all_options()) {
    SCOPED_TRACE(static_cast<int>(options.method));
    const HostVector<double> w = solution_at_one<typename TypeParam::Space>(options);
    double largest = 0.0;
    for (const double value : w.span())
      largest = std::max(largest, std::abs(value - std::sin(1.0) - 1.0));
    EXPECT_LT(largest, 5e-3);
    EXPECT_GT(largest, 0.0);
  }
}

TEST(LargeSystemsOnSeveralThreads, HaveTheSameBits) {
  for (const TimeOptions& options : all_options()) {
    SCOPED_TRACE(static_cast<int>(options.method));
    const auto solution = [&](int threads) {
      const ThreadsInUse count(threads);
      return solution_at_one<Host>(options);
    };
    const HostVector<double> expected = solution(1);
    for (const int threads : {1, 2, 3}) EXPECT_TRUE(same_bits(solution(threads), expected));
  }
}

}  // namespace
}  // namespace tessera::testing
