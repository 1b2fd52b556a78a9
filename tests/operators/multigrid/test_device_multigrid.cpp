// These tests compare the cycle of multigrid on the GPU with that of the host.
#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "operators/multigrid/size.hpp"
#include "solvers/krylov/cg.hpp"
#include "solvers/preconditioners/fused_levels.hpp"
#include "tests/device_test.hpp"
#include "tests/operators/multigrid/multigrid_cases.hpp"

namespace tessera::testing {
namespace {

template <class T>
void expect_cycle_of_the_host(const Problem& problem, double tolerance) {
  const auto host = make_multigrid<T, Host>(problem.form, quick_options(), nullptr);
  const auto device = make_multigrid<T, Device>(problem.form, quick_options(), nullptr);
  ASSERT_EQ(device.levels.size(), host.levels.size());
  for (std::size_t l = 0; l < host.levels.size(); ++l) {
    EXPECT_EQ(device.levels[l].shape, host.levels[l].shape);
    EXPECT_NEAR(device.levels[l].largest_eigenvalue, host.levels[l].largest_eigenvalue,
                tolerance * host.levels[l].largest_eigenvalue);
  }
  const HostVector<T> r = vector_of<T>(random_values(problem.size(), 3));
  const HostVector<T> found = applied(*device.cycle, r);
  // Rounding of what is constant grows where constants are nearly a null space.
  EXPECT_LT(relative_difference(found, values_of(applied(*host.cycle, r))), tolerance);
  EXPECT_TRUE(same_bits(applied(*device.cycle, r), found));
}

// Cycles from every level on, of which the last ones, the coarsest at least, are in one kernel.
void expect_cycles_of_all_levels(const Problem& problem, const MultigridOptions& options,
                                 double tolerance) {
  const auto a_host = finest_operator(problem.form);
  const auto a = finest_operator<Device>(problem.form);
  const auto host = make_multigrid<double, Host>(problem.form, options, a_host.get());
  const auto device = make_multigrid<double, Device>(problem.form, options, a.get());
  ASSERT_EQ(device.levels.size(), host.levels.size());
  EXPECT_EQ(device.levels.front().strategy, "as the case's");
  EXPECT_EQ(device.levels.back().strategy, kInOneKernel);
  for (std::size_t l = 0; l < host.levels.size(); ++l) {
    SCOPED_TRACE(l);
    const Index n = device.levels[l].dofs;
    const HostVector<double> b = vector_of<double>(random_values(n, 3));
    const auto cycle_of = [&]<class Space>(const Multigrid<double, Space>& cycle,
                                           const HostVector<double>& r) {
      const auto in = in_space<Space>(r);
      Vector<double, Space> x(n);
      cycle.cycle(l, in, x);
      return on_host(x);
    };
    const HostVector<double> found = cycle_of(*device.cycle, b);
    EXPECT_LT(relative_difference(found, values_of(cycle_of(*host.cycle, b))), tolerance);
    EXPECT_TRUE(l == 0 || same_bits(cycle_of(*device.cycle, b), found));
    const HostVector<double> c = vector_of<double>(random_values(n, 4));
    const HostVector<double> other = cycle_of(*device.cycle, c);
    EXPECT_NEAR(dot(found, c), dot(b, other), 1e-12 * norm(found) * norm(c));
  }
}

class DeviceMultigrid : public ::testing::TestWithParam<int> {
 protected:
  void SetUp() override { TESSERA_REQUIRE_DEVICE(); }
};

TEST_P(DeviceMultigrid, HasTheCycleOfTheHost) {
  for (const Problem& problem : problems(GetParam())) {
    expect_cycle_of_the_host<double>(problem, 1e-9);
    expect_cycle_of_the_host<float>(problem, 2e-3);
  }
}

TEST_P(DeviceMultigrid, HasTheCyclesOfTheHostInOneKernel) {
  const int dimension = GetParam();
  std::vector<Problem> all = more_problems(dimension);
  for (const int degree : {1, 2, 4, 6}) {
    ProblemOptions options = options_for(dimension);
    options.degree = degree;
    options.cells = dimension == 2 ? IndexTriple{9, 7, 1} : IndexTriple{5, 3, 4};
    all.push_back(make_problem(options));
    // Levels that are halved along one axis.
    all.push_back(make_box_problem(dimension, degree, {6, 5, 4}, {1, 20, 3}));
  }
  for (const Problem& problem : all) {
    for (const int smoother_degree : {1, 4}) {
      MultigridOptions options = quick_options();
      options.smoother_degree = smoother_degree;
      options.rules.small_enough = 20;
      expect_cycles_of_all_levels(problem, options, 1e-9);
    }
  }
}

// The coarsest level is too large for its inverse.
TEST_P(DeviceMultigrid, IteratesOnTheCoarsestLevelInOneKernel) {
  ProblemOptions options = options_for(GetParam());
  options.degree = 1;
  options.cells = options.dimension == 2 ? IndexTriple{100, 90, 1} : IndexTriple{24, 23, 25};
  const Problem problem = make_problem(options);
  for (const int levels : {2, 3}) {
    MultigridOptions few = quick_options();
    few.rules.max_levels = levels;
    // Rounding shows in the smallest eigenvalue that is estimated.
    expect_cycles_of_all_levels(problem, few, 1e-5);
  }
}

TEST_P(DeviceMultigrid, LeavesLargeLevelsToKernelsOfTheirOwn) {
  const Index n = GetParam() == 2 ? 500 : 50;
  const Problem problem = make_box_problem(GetParam(), 1, {n, n, n}, {1, 1, 1});
  const auto made = make_multigrid<float, Device>(problem.form, quick_options(), nullptr);
  ASSERT_GE(made.levels.size(), 3U);
  EXPECT_NE(made.levels[0].strategy, kInOneKernel);
  for (std::size_t l = 1; l < made.levels.size(); ++l) {
    EXPECT_EQ(made.levels[l].strategy, kInOneKernel);
  }
  const auto host = make_multigrid<float, Host>(problem.form, quick_options(), nullptr);
  const HostVector<float> r = vector_of<float>(random_values(problem.size(), 3));
  EXPECT_LT(relative_difference(applied(*made.cycle, r), values_of(applied(*host.cycle, r))), 1e-3);
}

// With atomic additions the product of a smoothing step is cleared by the step before.
TEST_P(DeviceMultigrid, HasTheCycleOfTheHostWithOperatorsThatAdd) {
  ProblemOptions options = options_for(GetParam());
  options.degree = 2;
  options.cells = options.dimension == 2 ? IndexTriple{200, 190, 1} : IndexTriple{18, 17, 16};
  const Problem problem = make_problem(options);
  MultigridOptions atomic = quick_options();
  atomic.scatter = "atomic";
  const auto made = make_multigrid<double, Device>(problem.form, atomic, nullptr);
  EXPECT_TRUE(made.levels[0].strategy.starts_with("tensor/atomic")) << made.levels[0].strategy;
  EXPECT_EQ(made.levels[1].strategy, kInOneKernel);
  const auto host = make_multigrid<double, Host>(problem.form, quick_options(), nullptr);
  for (const unsigned seed : {3U, 4U}) {
    const HostVector<double> r = vector_of<double>(random_values(problem.size(), seed));
    EXPECT_LT(relative_difference(applied(*made.cycle, r), values_of(applied(*host.cycle, r))),
              1e-9);
  }
}

// There the update of the residual clears the product, but for Polak and Ribiere's beta, which is
// of the product before.
TEST_P(DeviceMultigrid, SolvesAsOnTheHostWithOperatorsThatAdd) {
  ProblemOptions options = options_for(GetParam());
  options.degree = 3;
  const Problem problem = make_problem(options);
  const auto host = make_operator<double, Host>({"tensor", "coloring"}, problem.form);
  const auto device = make_operator<double, Device>({"tensor", "atomic"}, problem.form);
  const auto host_cycle = make_multigrid<double, Host>(problem.form, quick_options(), host.get());
  const auto cycle = make_multigrid<double, Device>(problem.form, quick_options(), device.get());
  const HostVector<double> b = vector_of<double>(right_hand_side(problem, *host, 5));
  SolveOptions to_the_end;
  to_the_end.relative_tolerance = 1e-10;
  const auto solve = [&]<class Space>(const auto& make, const LinearOperator<double, Space>& a,
                                      const Preconditioner<double, Space>* m) {
    const auto in = in_space<Space>(b);
    Vector<double, Space> x(problem.size());
    const auto solver = make(a, m);
    SolveReport report;
    // The second solve replays what the first one has recorded.
    for (int solves = 0; solves < 2; ++solves) {
      fill(x, 0.0);
      report = solver->solve(in, x, to_the_end);
      EXPECT_EQ(report.status, SolveStatus::converged);
    }
    return std::pair(report.iterations, on_host(x));
  };
  const auto expect_same = [&](const auto& make, const auto* of_host, const auto* of_device) {
    const auto [iterations, x] = solve(make, *host, of_host);
    const auto [device_iterations, device_x] = solve(make, *device, of_device);
    EXPECT_NEAR(device_iterations, iterations, 1);
    EXPECT_LT(relative_difference(device_x, values_of(x)), 1e-8);
  };
  const Preconditioner<double, Host>* const no_host = nullptr;
  const Preconditioner<double, Device>* const no_device = nullptr;
  const auto with_cg = [](const auto& a, const auto* m) { return make_cg(a, m); };
  const auto with_flexible_cg = [](const auto& a, const auto* m) { return make_flexible_cg(a, m); };
  expect_same(with_cg, no_host, no_device);
  expect_same(with_cg, host_cycle.cycle.get(), cycle.cycle.get());
  expect_same(with_flexible_cg, host_cycle.cycle.get(), cycle.cycle.get());
}

INSTANTIATE_TEST_SUITE_P(Dimensions, DeviceMultigrid, ::testing::Values(2, 3),
                         [](const auto& tested) { return std::to_string(tested.param) + "d"; });

}  // namespace
}  // namespace tessera::testing
