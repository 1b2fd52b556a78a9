// These tests check that errors of the program end it.
#include <gtest/gtest.h>

#include "solvers/check.hpp"
#include "tests/device_test.hpp"
#include "tests/solvers/device_operators_to_solve.hpp"
#include "tests/solvers/operators_to_solve.hpp"

namespace tessera::testing {
namespace {

class Checks : public ::testing::Test {
 protected:
  // Threads of OpenMP do not survive a plain fork.
  void SetUp() override { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
};

using ChecksDeathTest = Checks;

TEST_F(Checks, HoldWithoutAWord) {
  TESSERA_CHECK(1 + 1 == 2);
  const DiagonalOperator<double> a({1.0, 2.0, 3.0});
  HostVector<double> x(3);
  HostVector<double> y(3);
  a.apply(x, y);
  a.apply(y, x);
  a.diagonal(y);
}

TEST_F(ChecksDeathTest, SayWhatDoesNotHoldAndWhere) {
  const int least = 3;
  EXPECT_DEATH(TESSERA_CHECK(least < 2), "internal error.*not least < 2, at .*test_checks.cpp:");
}

TEST_F(ChecksDeathTest, VectorsOfAnotherSizeAreRefused) {
  const DiagonalOperator<double> a({1.0, 2.0, 3.0});
  HostVector<double> three(3);
  HostVector<double> four(4);
  EXPECT_DEATH(a.apply(four, three), "x.size\\(\\) == size\\(\\)");
  EXPECT_DEATH(a.apply(three, four), "y.size\\(\\) == size\\(\\)");
  EXPECT_DEATH(a.diagonal(four), "d.size\\(\\) == size\\(\\)");
  const WithFusedForms<double> fused(a);
  double sums[2];
  EXPECT_DEATH(fused.apply_dot(four, three, sums), "x.size\\(\\) == y.size\\(\\)");
  HostVector<double> r(3);
  EXPECT_DEATH(fused.residual(four, three, r, sums), "b.size\\(\\) == r.size\\(\\)");
}

TEST_F(ChecksDeathTest, VectorOperationsOfTwoSizesAreRefused) {
  const HostVector<double> three(3);
  HostVector<double> four(4);
  EXPECT_DEATH(copy(three, four), "x.size\\(\\) == y.size\\(\\)");
  EXPECT_DEATH(axpy(1.0, three, four), "x.size\\(\\) == y.size\\(\\)");
  EXPECT_DEATH(dot(three, four), "x.size\\(\\) == y.size\\(\\)");
  EXPECT_DEATH(multiply(three, three, four), "x.size\\(\\) == z.size\\(\\)");
  EXPECT_DEATH(subtract_from(three, four), "b.size\\(\\) == r.size\\(\\)");
}

TEST_F(ChecksDeathTest, OutputsThatAreInputsAreRefused) {
  const DiagonalOperator<double> a({1.0, 2.0, 3.0});
  HostVector<double> x(3);
  EXPECT_DEATH(a.apply(x, x), "&x != &y");
  const WithFusedForms<double> fused(a);
  double sums[2];
  EXPECT_DEATH(fused.apply_dot(x, x, sums), "&x != &y");
  HostVector<double> b(3);
  EXPECT_DEATH(fused.residual(b, x, x, sums), "&x != &r");
  // The residual may replace the right-hand side.
  fused.residual(b, x, b, sums);
}

TEST_F(ChecksDeathTest, OneApplicationAtATime) {
  const DiagonalOperator<double> a({1.0, 2.0, 3.0});
  HostVector<double> x(3);
  HostVector<double> y(3);
  const TamperedOperator<double>* self = nullptr;
  const TamperedOperator<double> nested(a, [&](int application, HostVector<double>& result) {
    HostVector<double> again(3);
    if (application == 1) self->apply(result, again);
  });
  self = &nested;
  EXPECT_DEATH(nested.apply(x, y), "is_used_already");
  const TamperedOperator<double> diagonal(
      a, [&](int, HostVector<double>& result) { diagonal.diagonal(result); });
  EXPECT_DEATH(diagonal.apply(x, y), "is_used_already");
}

TEST_F(Checks, AnApplicationThatThrowsIsOver) {
  const DiagonalOperator<double> a({1.0, 2.0, 3.0});
  const TamperedOperator<double> throws(a, [](int application, HostVector<double>&) {
    if (application == 1) throw std::runtime_error("no");
  });
  const HostVector<double> x(3);
  HostVector<double> y(3);
  EXPECT_THROW(throws.apply(x, y), std::runtime_error);
  throws.apply(x, y);
}

#ifndef NDEBUG
TEST_F(ChecksDeathTest, IndicesOutOfAVectorAreRefused) {
  HostVector<double> x(3);
  EXPECT_DEATH(x[3] = 1.0, "i < size_");
  EXPECT_DEATH(x[-1] = 1.0, "0 <= i");
}
#endif

TEST_F(ChecksDeathTest, DeviceOperatorsRefuseTheSame) {
  TESSERA_REQUIRE_DEVICE();
  if constexpr (kHasCuda) {
    EXPECT_DEATH(
        {
          const DeviceDiagonal<double> a({1, 2, 3});
          DeviceVector<double> x(3);
          DeviceVector<double> y(4);
          a.apply(x, y);
        },
        "y.size\\(\\) == size\\(\\)");
    EXPECT_DEATH(
        {
          const DeviceDiagonal<double> a({1, 2, 3});
          DeviceVector<double> x(3);
          a.apply(x, x);
        },
        "&x != &y");
  }
}

}  // namespace
}  // namespace tessera::testing
