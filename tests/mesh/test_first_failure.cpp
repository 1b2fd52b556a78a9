// These tests throw from parallel regions, and let sizes saturate.
#include <gtest/gtest.h>

#include <atomic>
#include <new>
#include <stdexcept>
#include <string>

#include "mesh/first_failure.hpp"
#include "mesh/partition.hpp"
#include "mesh/saturated.hpp"

namespace tessera::testing {
namespace {

TEST(FirstFailure, IsThrownAfterTheRegion) {
  FirstFailure failure;
  std::atomic<int> done = 0;
#pragma omp parallel for num_threads(4)
  for (int i = 0; i < 100; ++i) {
    failure.guard(i, [&] {
      if (i % 10 == 7) throw std::runtime_error(std::to_string(i));
      ++done;
    });
  }
  EXPECT_EQ(done, 90);
  try {
    failure.rethrow();
    FAIL() << "nothing was thrown";
  } catch (const std::runtime_error& error) {
    EXPECT_STREQ(error.what(), "7");
  }
}

TEST(FirstFailure, KeepsTheType) {
  FirstFailure failure;
  failure.guard(3, [] { throw std::bad_alloc(); });
  EXPECT_THROW(failure.rethrow(), std::bad_alloc);
}

TEST(FirstFailure, ThrowsNothingWhereNothingFailed) {
  FirstFailure failure;
  failure.guard(0, [] {});
  EXPECT_NO_THROW(failure.rethrow());
}

TEST(Saturated, StaysAtTheLargest) {
  constexpr Index kLargest = std::numeric_limits<Index>::max();
  EXPECT_EQ(Index{Saturated(Index{1} << 40) * (Index{1} << 40) * 8}, kLargest);
  EXPECT_EQ(Index{Saturated(kLargest) + 1}, kLargest);
  EXPECT_EQ(Index{Saturated(kLargest) * 0}, 0);
  EXPECT_EQ(Index{Saturated(6) * 7 + 1}, 43);
}

}  // namespace
}  // namespace tessera::testing
