// These tests sweep over vectors at all places in a cache line, beside values that are not theirs.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "mesh/lanes/host_array.hpp"
#include "mesh/threads_in_use.hpp"
#include "operators/kronecker/host/sweep.hpp"
#include "tests/operators/kronecker/kronecker_checks.hpp"

namespace tessera::testing {
namespace {

// A vector between values that nobody may write, `place` values after the beginning of a cache
// line.
template <class T>
class Guarded {
 public:
  Guarded(Index size, Index place, T guard)
      : begin_(kGuards + place),
        values_(begin_ + size + kGuards, guard),
        size_(size),
        guard_(guard) {}

  T* data() { return values_.data() + begin_; }
  HostVector<T> values() { return vector_of<T>({data(), data() + size_}); }
  bool is_intact() const {
    const auto is_guard = [this](T v) { return std::isnan(guard_) ? std::isnan(v) : v == guard_; };
    return std::all_of(values_.begin(), values_.begin() + begin_, is_guard) &&
           std::all_of(values_.begin() + begin_ + size_, values_.end(), is_guard);
  }

 private:
  static constexpr Index kGuards = 4 * kLineValues<T>;

  Index begin_;
  HostArray<T> values_;
  Index size_;
  T guard_;
};

template <class T>
void expect_sweeps_at_all_places(const ProblemOptions& options) {
  SCOPED_TRACE(describe(options));
  const Problem problem = make_problem(options);
  const Index n = problem.size();
  const std::vector<double> input = random_input<T>(n, 5);
  const std::vector<double> right_side = random_input<T>(n, 6);
  const std::vector<double> product = Reference(problem.form).apply(input);
  double sums[2] = {};
  double residual_square = 0.0;
  std::vector<double> residual(input.size());
  for (Index i = 0; i < n; ++i) {
    sums[0] += input[i] * product[i];
    sums[1] += product[i] * product[i];
    residual[i] = right_side[i] - product[i];
    residual_square += residual[i] * residual[i];
  }
  const ThreadsInUse threads(3);
  const KroneckerSweep<T> sweep(make_kronecker_factors(problem.form),
                                problem.discretization->lattice, problem.form.dirichlet);
  const T nan = std::numeric_limits<T>::quiet_NaN();
  for (Index place = 0; place < kLineValues<T>; ++place) {
    Guarded<T> x(n, (3 * place) % kLineValues<T>, nan);
    std::copy(input.begin(), input.end(), x.data());
    for (const WriteTo where : {WriteTo::cache, WriteTo::memory}) {
      Guarded<T> y(n, place, T{7});
      std::fill_n(y.data(), n, nan);
      sweep.run(SweepResult::apply, {x.data(), y.data(), where});
      EXPECT_LT(relative_difference(y.values(), product), tolerance<T>()) << place;
      std::fill_n(y.data(), n, nan);
      const SweepSums both = sweep.run(SweepResult::apply_dot, {x.data(), y.data(), where});
      EXPECT_LT(relative_difference(y.values(), product), tolerance<T>()) << place;
      EXPECT_NEAR(both.first / sums[0], 1.0, 10 * tolerance<T>()) << place;
      EXPECT_NEAR(both.second / sums[1], 1.0, 10 * tolerance<T>()) << place;
      // r may be b.
      std::copy(right_side.begin(), right_side.end(), y.data());
      const SweepSums one = sweep.run(SweepResult::residual, {x.data(), y.data(), where, y.data()});
      EXPECT_LT(relative_difference(y.values(), residual), tolerance<T>()) << place;
      EXPECT_NEAR(one.second / residual_square, 1.0, 10 * tolerance<T>()) << place;
      EXPECT_TRUE(y.is_intact()) << place;
    }
  }
}

struct SweepCase {
  int dimension;
  int degree;
  IndexTriple cells;
};

class KroneckerSweepAtPlaces : public ::testing::TestWithParam<SweepCase> {};

// Rows shorter than a cache line, of about one batch, and of several.
TEST_P(KroneckerSweepAtPlaces, WritesItsNodesAndNoOthers) {
  const SweepCase& c = GetParam();
  ProblemOptions options = kronecker_options(c.dimension, c.degree, c.cells);
  for (const Boundary boundary : {Boundary::none, Boundary::dirichlet}) {
    options.boundary = boundary;
    expect_sweeps_at_all_places<double>(options);
    expect_sweeps_at_all_places<float>(options);
  }
}

INSTANTIATE_TEST_SUITE_P(Shapes, KroneckerSweepAtPlaces,
                         ::testing::Values(SweepCase{3, 1, {1, 2, 3}}, SweepCase{3, 1, {7, 12, 9}},
                                           SweepCase{3, 1, {35, 9, 2}}, SweepCase{3, 2, {3, 5, 5}},
                                           SweepCase{3, 3, {17, 3, 3}}, SweepCase{3, 4, {8, 3, 2}},
                                           SweepCase{3, 7, {1, 2, 2}}, SweepCase{3, 9, {2, 2, 1}},
                                           SweepCase{2, 1, {1, 4, 1}}, SweepCase{2, 1, {50, 20, 1}},
                                           SweepCase{2, 5, {16, 7, 1}},
                                           SweepCase{2, 8, {33, 2, 1}}),
                         [](const auto& parameter) {
                           const SweepCase& c = parameter.param;
                           return std::to_string(c.dimension) + "dP" + std::to_string(c.degree) +
                                  "Cells" + std::to_string(c.cells[0]) + "x" +
                                  std::to_string(c.cells[1]) + "x" + std::to_string(c.cells[2]);
                         });

template <class T>
void expect_all_lane_shifts() {
  Lanes<T> before = lane_numbers<T>();
  const Lanes<T> v = before + static_cast<T>(kLanes<T>);
  for (Index shift = 0; shift < kLanes<T>; ++shift) {
    const Lanes<T> shifted = LaneShift<T>(shift)(before, v);
    for (int lane = 0; lane < kLanes<T>; ++lane) {
      EXPECT_EQ(shifted[lane], static_cast<T>(kLanes<T> + lane - shift)) << shift;
    }
  }
}

TEST(LaneShifts, TakeTheLastLanesOfTheVectorBefore) {
  expect_all_lane_shifts<double>();
  expect_all_lane_shifts<float>();
}

}  // namespace
}  // namespace tessera::testing
