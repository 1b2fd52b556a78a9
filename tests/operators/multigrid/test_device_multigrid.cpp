// These tests compare the cycle of multigrid on the GPU with that of the host.
#include <gtest/gtest.h>

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

INSTANTIATE_TEST_SUITE_P(Dimensions, DeviceMultigrid, ::testing::Values(2, 3),
                         [](const auto& tested) { return std::to_string(tested.param) + "d"; });

}  // namespace
}  // namespace tessera::testing
