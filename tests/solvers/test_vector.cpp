// These tests compare vector operations with plain loops.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "solvers/memory/vector.hpp"
#include "tests/everywhere.hpp"
#include "tests/solvers/operators_to_solve.hpp"

namespace tessera::testing {
namespace {

// Around SIMD widths, chains and blocks of sums, and beyond where huge pages begin.
const std::vector<std::int64_t>& sizes() {
  static const std::vector<std::int64_t> all = {0,  1,  2,    3,    7,    31,   32,
                                                33, 97, 4095, 4096, 4097, 8191, 1'100'003};
  return all;
}

template <class T>
class Vectors : public ::testing::Test {
 protected:
  static constexpr double kEpsilon = std::numeric_limits<T>::epsilon();

  // Calls f(n) for every size and several numbers of threads.
  template <class F>
  void for_each_size(F&& f) {
    for (const int threads : {1, 3}) {
      const ThreadsInUse count(threads);
      for (const std::int64_t n : sizes()) {
        SCOPED_TRACE(::testing::Message() << n << " entries, " << threads << " threads");
        f(n);
      }
    }
  }
  HostVector<T> random(std::int64_t n, unsigned seed) {
    return vector_of<T>(random_values(n, seed));
  }
};

TYPED_TEST_SUITE(Vectors, Precisions);

TYPED_TEST(Vectors, StartAsAlignedZeros) {
  this->for_each_size([&](std::int64_t n) {
    const HostVector<TypeParam> x(n);
    ASSERT_EQ(x.size(), n);
    ASSERT_EQ(x.span().size(), static_cast<std::size_t>(n));
    ASSERT_EQ(reinterpret_cast<std::uintptr_t>(x.data()) % 64, 0u);
    for (const TypeParam value : x.span()) ASSERT_EQ(value, TypeParam{0});
  });
  EXPECT_EQ(HostVector<TypeParam>().size(), 0);
}

TYPED_TEST(Vectors, MoveWithTheirEntriesAndAreNotCopied) {
  using V = HostVector<TypeParam>;
  static_assert(!std::is_copy_constructible_v<V> && !std::is_copy_assignable_v<V>);
  static_assert(std::is_nothrow_move_constructible_v<V> && std::is_nothrow_move_assignable_v<V>);
  V a = this->random(100, 3);
  const V expected = this->random(100, 3);
  const TypeParam* memory = a.data();
  V b(std::move(a));
  EXPECT_EQ(b.data(), memory);
  EXPECT_EQ(a.size(), 0);  // NOLINT(bugprone-use-after-move): a moved vector is empty
  EXPECT_EQ(a.data(), nullptr);
  V c(5);
  c = std::move(b);
  EXPECT_EQ(c.data(), memory);
  EXPECT_TRUE(same_bits(c, expected));
}

TYPED_TEST(Vectors, AreFilledAndCopied) {
  using T = TypeParam;
  this->for_each_size([&](std::int64_t n) {
    HostVector<T> x = poisoned<T>(n);
    fill(x, T{2.5});
    for (const T value : x.span()) ASSERT_EQ(value, T{2.5});
    const HostVector<T> source = this->random(n, 5);
    copy(source, x);
    ASSERT_TRUE(same_bits(x, source));
  });
}

TYPED_TEST(Vectors, AreCombinedEntryByEntry) {
  using T = TypeParam;
  this->for_each_size([&](std::int64_t n) {
    const HostVector<T> x = this->random(n, 7);
    const HostVector<T> y = this->random(n, 11);
    HostVector<T> added = this->random(n, 11);
    HostVector<T> scaled = this->random(n, 11);
    HostVector<T> product = poisoned<T>(n);
    const T a{0.75};
    axpy(a, x, added);
    aypx(x, a, scaled);
    multiply(x, y, product);
    for (std::int64_t i = 0; i < n; ++i) {
      ASSERT_NEAR(added[i], double{y[i]} + double{a} * double{x[i]}, 2 * this->kEpsilon);
      ASSERT_NEAR(scaled[i], double{x[i]} + double{a} * double{y[i]}, 2 * this->kEpsilon);
      ASSERT_EQ(product[i], x[i] * y[i]);
    }
    HostVector<T> inverse(n);
    for (std::int64_t i = 0; i < n; ++i) inverse[i] = T{3} + y[i];
    invert_entries(inverse);
    for (std::int64_t i = 0; i < n; ++i) ASSERT_EQ(inverse[i], T{1} / (T{3} + y[i]));
  });
}

template <class W>
class CombinedVectors : public EverywhereTest<W> {};
TYPED_TEST_SUITE(CombinedVectors, Everywhere, NameOfWhere);

TYPED_TEST(CombinedVectors, AreSumsOfMultiplesAndMayBeOneOfThem) {
  using T = typename TypeParam::Scalar;
  using V = Vector<T, typename TypeParam::Space>;
  const std::vector<T> factors = {T{2}, T{-0.5}, T{0.25}};
  for (const std::int64_t n : sizes()) {
    const std::vector<std::vector<double>> values = {random_values(n, 3), random_values(n, 5),
                                                     random_values(n, 7)};
    for (std::size_t terms = 1; terms <= factors.size(); ++terms) {
      for (const std::size_t target : {std::size_t{0}, terms - 1, terms}) {
        std::vector<V> x;
        for (const auto& of : values) x.push_back(vector_in<T, typename TypeParam::Space>(of));
        std::vector<const V*> vectors;
        for (std::size_t k = 0; k < terms; ++k) vectors.push_back(&x[k]);
        V other = poisoned<T, typename TypeParam::Space>(n);
        V& sum = target < terms ? x[target] : other;
        combine<T>(std::span(factors).first(terms), vectors, sum);
        const HostVector<T> sums = on_host(sum);
        for (std::int64_t i = 0; i < n; ++i) {
          double expected = 0.0;
          for (std::size_t k = 0; k < terms; ++k) {
            expected += double{factors[k]} * double{static_cast<T>(values[k][i])};
          }
          ASSERT_NEAR(sums[i], expected, 4.0 * std::numeric_limits<T>::epsilon()) << i;
        }
      }
    }
  }
}

// sum_i x_i y_i by a plain loop, and the sum of its terms' sizes.
template <class T>
std::pair<long double, double> plain_dot(const HostVector<T>& x, const HostVector<T>& y) {
  long double sum = 0.0L;
  double size = 0.0;
  for (std::int64_t i = 0; i < x.size(); ++i) {
    sum += static_cast<long double>(x[i]) * static_cast<long double>(y[i]);
    size += std::abs(static_cast<double>(x[i]) * static_cast<double>(y[i]));
  }
  return {sum, size};
}

TYPED_TEST(Vectors, DotAndNormAreSumsInDouble) {
  using T = TypeParam;
  this->for_each_size([&](std::int64_t n) {
    const HostVector<T> x = this->random(n, 13);
    const HostVector<T> y = this->random(n, 17);
    const auto [xy, xy_size] = plain_dot(x, y);
    const auto [xx, xx_size] = plain_dot(x, x);
    // Double rounding, whatever T is.
    ASSERT_NEAR(dot(x, y), static_cast<double>(xy), 1e-14 * xy_size);
    ASSERT_NEAR(norm(x), static_cast<double>(std::sqrt(xx)), 1e-14 * std::sqrt(xx_size));
  });
}

// Every entry counts once: sums of powers of two are exact.
TYPED_TEST(Vectors, DotCountsEveryEntryOnce) {
  using T = TypeParam;
  for (const std::int64_t n : {1, 32, 33, 4095, 4097, 12345}) {
    HostVector<T> x(n);
    fill(x, T{1});
    EXPECT_EQ(dot(x, x), static_cast<double>(n));
    for (const std::int64_t i : {std::int64_t{0}, n / 2, n - 1}) {
      HostVector<T> unit(n);
      unit[i] = T{4};
      EXPECT_EQ(dot(unit, x), 4.0) << i << " of " << n;
    }
  }
}

TYPED_TEST(Vectors, DotHasTheRangeOfDouble) {
  using T = TypeParam;
  HostVector<T> x(100);
  fill(x, T{1e30F});
  EXPECT_NEAR(dot(x, x), 1e62, 1e56);
  fill(x, T{1e-30F});
  EXPECT_NEAR(dot(x, x), 1e-58, 1e-64);
}

TYPED_TEST(Vectors, NanAndInfinityReachTheSums) {
  using T = TypeParam;
  for (const std::int64_t n : {5, 64, 5000}) {
    for (const std::int64_t i : {std::int64_t{0}, n - 1}) {
      HostVector<T> x(n);
      fill(x, T{1});
      x[i] = std::numeric_limits<T>::quiet_NaN();
      EXPECT_TRUE(std::isnan(dot(x, x)));
      x[i] = std::numeric_limits<T>::infinity();
      EXPECT_EQ(norm(x), std::numeric_limits<double>::infinity());
    }
  }
}

TYPED_TEST(Vectors, FusedUpdatesAreTheirParts) {
  using T = TypeParam;
  this->for_each_size([&](std::int64_t n) {
    const HostVector<T> p = this->random(n, 19);
    const HostVector<T> q = this->random(n, 23);
    const HostVector<T> x_before = this->random(n, 29);
    const HostVector<T> r_before = this->random(n, 31);
    HostVector<T> x = this->random(n, 29);
    HostVector<T> r = this->random(n, 31);
    const T a{0.625};
    const double rr = update_solution_and_residual(a, p, q, x, r);
    for (std::int64_t i = 0; i < n; ++i) {
      ASSERT_NEAR(x[i], double{x_before[i]} + double{a} * double{p[i]}, 2 * this->kEpsilon);
      ASSERT_NEAR(r[i], double{r_before[i]} - double{a} * double{q[i]}, 2 * this->kEpsilon);
    }
    ASSERT_EQ(rr, dot(r, r));
    const T b{-0.375};
    HostVector<T> all_x = this->random(n, 29);
    HostVector<T> all_r = this->random(n, 31);
    HostVector<T> all_p = this->random(n, 19);
    const T c{1.75};
    ASSERT_EQ(update_all(a, b, c, q, all_x, all_r, all_p), rr);
    HostVector<T> two_r = this->random(n, 31);
    HostVector<T> two_p = this->random(n, 19);
    ASSERT_EQ(update_residual_and_direction(a, b, q, two_r, two_p), rr);
    HostVector<T> difference_added = this->random(n, 29);
    add_differences(c, p, r_before, difference_added);
    for (std::int64_t i = 0; i < n; ++i) {
      const double delayed = double{x_before[i]} + double{c} * (double{p[i]} - double{r_before[i]});
      ASSERT_NEAR(all_x[i], delayed + double{a} * double{p[i]}, 16 * this->kEpsilon);
      ASSERT_NEAR(difference_added[i], delayed, 16 * this->kEpsilon);
      ASSERT_EQ(all_r[i], r[i]);
      ASSERT_NEAR(all_p[i], double{r[i]} + double{b} * double{p[i]}, 2 * this->kEpsilon);
      ASSERT_EQ(two_r[i], r[i]);
      ASSERT_EQ(two_p[i], all_p[i]);
    }
    HostVector<T> difference = this->random(n, 37);
    const HostVector<T> subtracted = this->random(n, 37);
    const double dd = subtract_from(p, difference);
    for (std::int64_t i = 0; i < n; ++i) ASSERT_EQ(difference[i], p[i] - subtracted[i]);
    ASSERT_EQ(dd, dot(difference, difference));
  });
}

TYPED_TEST(Vectors, SumsAreTheSameBitsForAnyNumberOfThreadsAndAgain) {
  using T = TypeParam;
  const std::int64_t n = 123457;
  const HostVector<T> x = this->random(n, 41);
  const HostVector<T> y = this->random(n, 43);
  const auto sums = [&] {
    HostVector<T> solution = this->random(n, 47);
    HostVector<T> residual = this->random(n, 53);
    const double updated = update_solution_and_residual(T{0.3F}, x, y, solution, residual);
    return std::tuple(dot(x, y), norm(x), updated, subtract_from(x, residual));
  };
  const auto expected = sums();
  for (const int threads : {1, 2, 3, 4, 7}) {
    const ThreadsInUse count(threads);
    for (int repetition = 0; repetition < 5; ++repetition) ASSERT_EQ(sums(), expected) << threads;
  }
}

// Larger than what goes through page-locked buffers, by a part of one.
TEST(DeviceCopies, OfLargeVectorsComeBack) {
  TESSERA_REQUIRE_DEVICE();
  if constexpr (kHasCuda) {
    const std::int64_t n = (std::int64_t{150} << 20) / 8 + 3;
    HostVector<double> from(n);
    for (std::int64_t i = 0; i < n; ++i) from[i] = static_cast<double>(i);
    DeviceVector<double> there(n);
    copy(from, there);
    HostVector<double> back(n);
    copy(there, back);
    for (std::int64_t i = 0; i < n; ++i) ASSERT_EQ(back[i], from[i]);
  }
}

}  // namespace
}  // namespace tessera::testing
