// These tests compare the passes of smoothers with plain loops.
#include <gtest/gtest.h>

#include <limits>
#include <set>
#include <vector>

#include "solvers/preconditioners/smoothing_passes.hpp"
#include "tests/device_test.hpp"
#include "tests/solvers/diagonal_systems.hpp"
#include "tests/solvers/operators_to_solve.hpp"

namespace tessera::testing {
namespace {

constexpr int kSizes[] = {1, 3, 1000, 10007};

template <class T>
void expect_near(const HostVector<T>& found, const std::vector<double>& expected) {
  const double tolerance = 8.0 * static_cast<double>(std::numeric_limits<T>::epsilon());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    ASSERT_NEAR(static_cast<double>(found[i]), expected[i], tolerance) << i;
  }
}

template <class T, class Space>
void check_passes() {
  for (const int n : kSizes) {
    const HostVector<T> inverse = vector_of<T>(random_values(n, 1));
    const HostVector<T> b = vector_of<T>(random_values(n, 2));
    const HostVector<T> y = vector_of<T>(random_values(n, 3));
    const HostVector<T> x = vector_of<T>(random_values(n, 5));
    const auto space_inverse = in_space<Space>(inverse);
    const auto space_b = in_space<Space>(b);
    std::vector<double> sum(n);

    auto first = in_space<Space>(poisoned<T>(n));
    first_step(T{0.75}, space_inverse, space_b, first);
    for (int i = 0; i < n; ++i) sum[i] = 0.75 * inverse[i] * b[i];
    expect_near(on_host(first), sum);

    for (const Leave leave : {Leave::as_it_is, Leave::zeros}) {
      auto space_x = in_space<Space>(x);
      auto used = in_space<Space>(y);
      next_step(T{0.75}, space_inverse, space_b, used, leave, space_x);
      for (int i = 0; i < n; ++i) sum[i] = x[i] + 0.75 * inverse[i] * (b[i] - y[i]);
      expect_near(on_host(space_x), sum);
      expect_near(on_host(used), leave == Leave::zeros
                                     ? std::vector<double>(n, 0.0)
                                     : std::vector<double>(y.data(), y.data() + n));
    }

    auto r = in_space<Space>(y);
    subtract_in_place(space_b, r);
    for (int i = 0; i < n; ++i) sum[i] = b[i] - y[i];
    expect_near(on_host(r), sum);
  }
}

TEST(SmoothingPasses, EqualLoops) {
  check_passes<double, Host>();
  check_passes<float, Host>();
}

TEST(SmoothingPasses, OnTheGpuEqualLoops) {
  TESSERA_REQUIRE_DEVICE();
  if constexpr (kHasCuda) {
    check_passes<double, Device>();
    check_passes<float, Device>();
  }
}

template <class Space>
void check_conversions() {
  for (const int n : kSizes) {
    const HostVector<double> x = vector_of<double>(random_values(n, 6));
    auto single = in_space<Space>(poisoned<float>(n));
    // Beyond the range of single precision before it is scaled.
    for (const double scale : {1.0, 0x1p-200, 0x1p200}) {
      HostVector<double> scaled(n);
      for (int i = 0; i < n; ++i) scaled[i] = x[i] / scale;
      convert(in_space<Space>(scaled), scale, single);
      const HostVector<float> found = on_host(single);
      for (int i = 0; i < n; ++i) ASSERT_EQ(found[i], static_cast<float>(x[i]));
      auto back = in_space<Space>(poisoned<double>(n));
      convert(single, 1.0 / scale, back);
      const HostVector<double> wide = on_host(back);
      for (int i = 0; i < n; ++i) ASSERT_EQ(wide[i], static_cast<double>(found[i]) / scale);
    }
  }
}

TEST(Conversions, ScaleBeforeTheyRound) { check_conversions<Host>(); }

TEST(Conversions, OnTheGpuScaleBeforeTheyRound) {
  TESSERA_REQUIRE_DEVICE();
  if constexpr (kHasCuda) {
    check_conversions<Device>();
    HostVector<double> x(1001);
    fill_random(x);
    auto in_place = in_space<Device>(x);
    convert(in_place, 0.25, in_place);
    const HostVector<double> found = on_host(in_place);
    for (int i = 0; i < 1001; ++i) ASSERT_EQ(found[i], 0.25 * x[i]);
  }
}

TEST(RandomVectors, AreTheSameInEveryRunAndHaveNoStructure) {
  const int n = 10000;
  HostVector<double> x = poisoned<double>(n);
  fill_random(x);
  {
    const ThreadsInUse scope(3);
    HostVector<double> again(n);
    fill_random(again);
    EXPECT_TRUE(same_bits(x, again));
  }
  double sum = 0.0;
  double of_neighbors = 0.0;
  for (int i = 0; i < n; ++i) {
    EXPECT_LT(std::abs(x[i]), 0.5);
    sum += x[i];
    if (i > 0) of_neighbors += x[i] * x[i - 1];
  }
  EXPECT_EQ(std::set<double>(x.data(), x.data() + n).size(), static_cast<std::size_t>(n));
  // Four standard deviations.
  EXPECT_LT(std::abs(sum), 4.0 * std::sqrt(n / 12.0));
  EXPECT_LT(std::abs(of_neighbors), 4.0 * std::sqrt(n) / 12.0);
  EXPECT_NEAR(dot(x, x), n / 12.0, 0.05 * n / 12.0);
}

TEST(RandomVectors, OnTheGpuAreThoseOfTheHost) {
  TESSERA_REQUIRE_DEVICE();
  if constexpr (kHasCuda) {
    HostVector<double> x(10007);
    fill_random(x);
    DeviceVector<double> on_device(10007);
    fill_random(on_device);
    EXPECT_TRUE(same_bits(on_host(on_device), x));
  }
}

}  // namespace
}  // namespace tessera::testing
