// These functions hold fused operations to those that they are made of, on host and GPU.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <type_traits>
#include <vector>

#include "solvers/memory/device_array.hpp"
#include "tests/operators/problems.hpp"
#include "tests/operators/reference.hpp"

namespace tessera::testing {

// Sums in the memory of Space, NaN until written.
template <class Space>
class Sums;
template <>
class Sums<Host> {
 public:
  double* data() { return values_.data(); }
  double get(int i) const { return values_[i]; }

 private:
  std::array<double, 2> values_{NAN, NAN};
};
template <>
class Sums<Device> {
 public:
  double* data() { return values_.data(); }
  double get(int i) const { return to_host(values_)[i]; }

 private:
  DeviceArray<double> values_{std::vector<double>{NAN, NAN}};
};

inline double dot_of(const std::vector<double>& x, const std::vector<double>& y) {
  return std::inner_product(x.begin(), x.end(), y.begin(), 0.0);
}

template <class T>
void expect_sum(double sum, const std::vector<double>& x, const std::vector<double>& y) {
  // The sum that it is compared with is taken term by term, whose rounding grows with their number.
  const double terms = std::max(1.0, 1e-3 * std::sqrt(static_cast<double>(x.size())));
  EXPECT_NEAR(sum, dot_of(x, y),
              terms * tolerance<T>() * std::sqrt(dot_of(x, x)) * std::sqrt(dot_of(y, y)));
}

// Each fused form of an operator that has them against apply() and plain loops.
template <class T, class Space>
void expect_fused_operations_equal_compositions(const LinearOperator<T, Space>& a) {
  constexpr bool kOnTheHost = std::is_same_v<Space, Host>;
  const FusedOperations<T, Space>* fused = a.fused();
  ASSERT_NE(fused, nullptr);
  const Index n = a.size();
  const std::vector<double> x = random_input<T>(n, 3);
  const std::vector<double> b = random_input<T>(n, 5);
  const auto space_x = vector_in<T, Space>(x);
  const auto space_b = vector_in<T, Space>(b);
  const HostVector<T> applied_x = applied(a, vector_of<T>(x));
  const std::vector<double> ax = values_of(applied_x);

  Sums<Space> sums;
  auto y = poisoned<T, Space>(n);
  fused->apply_dot(space_x, y, sums.data());
  EXPECT_LT(relative_difference(on_host(y), ax), tolerance<T>()) << "y of apply_dot";
  if (kOnTheHost) {
    EXPECT_TRUE(same_bits(on_host(y), applied_x));
  }
  expect_sum<T>(sums.get(0), x, ax);
  expect_sum<T>(sums.get(1), ax, ax);
  const double first = sums.get(0);
  fused->apply_dot(space_x, y, sums.data());
  EXPECT_EQ(sums.get(0), first) << "the same bits in every run";

  std::vector<double> expected(n);
  for (Index i = 0; i < n; ++i) expected[i] = b[i] - ax[i];
  auto r = poisoned<T, Space>(n);
  const double beyond = sums.get(1);
  fused->residual(space_b, space_x, r, sums.data());
  EXPECT_LT(relative_difference(on_host(r), expected), tolerance<T>()) << "residual";
  expect_sum<T>(sums.get(0), expected, expected);
  expect_sum<T>(sums.get(0), values_of(r), values_of(r));
  EXPECT_EQ(sums.get(1), beyond) << "residual() has one sum";
  const double square = sums.get(0);
  auto without_sum = poisoned<T, Space>(n);
  fused->residual(space_b, space_x, without_sum, nullptr);
  EXPECT_TRUE(same_bits(on_host(without_sum), on_host(r))) << "a residual without its sum";
  fused->residual(space_b, space_x, r, sums.data());
  EXPECT_EQ(sums.get(0), square) << "after one without its sum";
  auto in_place = vector_in<T, Space>(b);
  fused->residual(in_place, space_x, in_place, sums.data());
  EXPECT_LT(relative_difference(on_host(in_place), expected), tolerance<T>()) << "r is b";
  if (kOnTheHost) {
    EXPECT_TRUE(same_bits(on_host(in_place), on_host(r))) << "r is b";
  }

  if (!fused->has_step()) return;
  constexpr double kScale = 0.75;
  std::vector<double> d = random_input<T>(n, 7);
  for (double& value : d) value = 2.0 + std::abs(value);
  for (Index i = 0; i < n; ++i) expected[i] = x[i] + kScale * d[i] * (b[i] - ax[i]);
  auto stepped = poisoned<T, Space>(n);
  fused->step(static_cast<T>(kScale), vector_in<T, Space>(d), space_b, space_x, stepped);
  EXPECT_LT(relative_difference(on_host(stepped), expected), tolerance<T>()) << "step";
}

}  // namespace tessera::testing
