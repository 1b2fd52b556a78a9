// These tests compare multigrid on the GPU with that of the host.
#include <gtest/gtest.h>

#include <vector>

#include "operators/strategy.hpp"
#include "tests/device_test.hpp"
#include "tests/operators/multigrid/multigrid_cases.hpp"
#include "tests/operators/on_device.hpp"

namespace tessera::testing {
namespace {

class DeviceMultigrid : public ::testing::TestWithParam<int> {
 protected:
  void SetUp() override { TESSERA_REQUIRE_DEVICE(); }

  static std::vector<Problem> problems() {
    ProblemOptions options;
    options.dimension = GetParam();
    options.degree = options.dimension == 2 ? 4 : 2;
    options.cells = options.dimension == 2 ? IndexTriple{11, 9, 1} : IndexTriple{6, 5, 7};
    std::vector<Problem> all;
    for (const ProblemOptions& each : with_every_form(options)) all.push_back(make_problem(each));
    all.push_back(make_jumping_problem(options));
    options.degree = 1;
    all.push_back(make_problem(options));
    return all;
  }
};

template <class T>
HostVector<T> applied(const Preconditioner<T, Device>& m, const HostVector<T>& r) {
  return on_device(r, [&](const DeviceVector<T>& from, DeviceVector<T>& to) { m.apply(from, to); });
}

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
  HostVector<T> expected = poisoned<T>(problem.size());
  host.cycle->apply(r, expected);
  const HostVector<T> found = applied<T>(*device.cycle, r);
  // Rounding of what is constant grows where constants are nearly a null space.
  EXPECT_LT(relative_difference(found, {expected.data(), expected.data() + expected.size()}),
            tolerance);
  EXPECT_TRUE(same_bits(applied<T>(*device.cycle, r), found));
}

TEST_P(DeviceMultigrid, HasTheCycleOfTheHost) {
  for (const Problem& problem : problems()) {
    expect_cycle_of_the_host<double>(problem, 1e-9);
    expect_cycle_of_the_host<float>(problem, 2e-3);
  }
}

// CG replays the cycle as a CUDA graph.
TEST_P(DeviceMultigrid, SolvesInEitherPrecisionWithEachSmoother) {
  for (const Problem& problem : problems()) {
    const auto host = finest_operator(problem.form);
    const std::vector<double> b = right_hand_side(problem, *host, 5);
    HostVector<double> expected(problem.size());
    ASSERT_EQ((cg<double, Host>(*host, nullptr, vector_of<double>(b), expected, to_tolerance(1e-12))
                   .status),
              SolveStatus::converged);
    const bool is_singular = is_pure_neumann(problem.form);
    const auto values = [&](const HostVector<double>& x) {
      return is_singular ? without_mean(x) : std::vector<double>(x.data(), x.data() + x.size());
    };
    const auto a = finest_operator<Device>(problem.form);
    DeviceVector<double> device_b(problem.size());
    copy(vector_of<double>(b), device_b);
    const auto check = [&](const Preconditioner<double, Device>& m) {
      DeviceVector<double> x(problem.size());
      const SolveReport report = cg<double>(*a, &m, device_b, x, to_tolerance(1e-10));
      EXPECT_EQ(report.status, SolveStatus::converged);
      EXPECT_LE(report.iterations, 30);
      HostVector<double> found(problem.size());
      copy(x, found);
      EXPECT_LT(relative_difference(vector_of<double>(values(found)), values(expected)), 1e-6);
    };
    for (const SmootherKind smoother : {SmootherKind::chebyshev, SmootherKind::block_jacobi}) {
      check(*make_multigrid<double, Device>(problem.form, quick_options(smoother), a.get()).cycle);
      auto single = make_multigrid<float, Device>(problem.form, quick_options(smoother), nullptr);
      check(InSinglePrecision<Device>(problem.size(), std::move(single.cycle)));
    }
  }
}

// Asynchronous sweeps are another map at every call: flexible CG takes them.
TEST_P(DeviceMultigrid, SolvesWithAsynchronousSweepsInFlexibleCg) {
  ProblemOptions options;
  options.dimension = GetParam();
  options.degree = 1;
  options.cells = options.dimension == 2 ? IndexTriple{60, 50, 1} : IndexTriple{16, 15, 17};
  const Problem problem = make_problem(options);
  const auto a = finest_operator<Device>(problem.form);
  const auto host = finest_operator(problem.form);
  DeviceVector<double> b(problem.size());
  copy(vector_of<double>(right_hand_side(problem, *host, 5)), b);
  const auto made = make_multigrid<double, Device>(
      problem.form, quick_options(SmootherKind::block_asynchronous_jacobi), a.get());
  DeviceVector<double> x(problem.size());
  const SolveReport report = flexible_cg<double>(*a, made.cycle.get(), b, x, to_tolerance(1e-8));
  EXPECT_EQ(report.status, SolveStatus::converged);
  EXPECT_LE(report.iterations, 30);
}

INSTANTIATE_TEST_SUITE_P(Dimensions, DeviceMultigrid, ::testing::Values(2, 3),
                         [](const auto& tested) { return std::to_string(tested.param) + "d"; });

}  // namespace
}  // namespace tessera::testing
