// These tests split ranges of indices.
#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <vector>

#include "mesh/partition.hpp"
#include "tests/mesh/meshes.hpp"

namespace tessera::testing {
namespace {

TEST(Partition, PartsFollowEachOtherAndDifferByAtMostOne) {
  const Index billions = 3'000'000'000'000;
  for (const Index n : {Index{0}, Index{1}, Index{2}, Index{7}, Index{8}, Index{100}, billions}) {
    for (const Index parts : {1, 2, 3, 7, 8, 64}) {
      Index next = 0;
      for (Index part = 0; part < parts; ++part) {
        const Range range = partition(n, part, parts);
        EXPECT_EQ(range.begin, next);
        EXPECT_GE(range.size(), n / parts);
        EXPECT_LE(range.size(), ceil_div(n, parts));
        next = range.end;
      }
      EXPECT_EQ(next, n) << parts << " parts";
    }
  }
}

TEST(ParallelRanges, VisitEveryIndexOnce) {
  for (const int threads : {1, 2, 3, 5}) {
    const ThreadsInUse count(threads);
    for (const Index n : {0, 1, 2, 4, 5, 1000}) {
      std::vector<int> visits(static_cast<std::size_t>(n), 0);
      int calls = 0;
      parallel_ranges(n, [&](Range range) {
#pragma omp atomic
        ++calls;
        for (Index i = range.begin; i < range.end; ++i) ++visits[i];
      });
      EXPECT_EQ(visits, std::vector<int>(static_cast<std::size_t>(n), 1));
      EXPECT_EQ(calls, threads);
    }
  }
}

TEST(ParallelRanges, RethrowTheExceptionOfTheLowestPart) {
  for (const int threads : {1, 2, 4}) {
    const ThreadsInUse count(threads);
    for (int repetition = 0; repetition < 20; ++repetition) {
      for (const Index first_bad : {0, 3}) {
        try {
          parallel_ranges(8, [&](Range range) {
            for (Index i = range.begin; i < range.end; ++i) {
              if (i >= first_bad) throw std::domain_error(std::to_string(i));
            }
          });
          FAIL() << "no exception";
        } catch (const std::domain_error& error) {
          EXPECT_EQ(error.what(), std::to_string(first_bad)) << threads << " threads";
        }
      }
    }
  }
}

TEST(IndexArithmetic, RoundsUpAndRaises) {
  EXPECT_EQ(ceil_div(0, 5), 0);
  EXPECT_EQ(ceil_div(1, 5), 1);
  EXPECT_EQ(ceil_div(5, 5), 1);
  EXPECT_EQ(ceil_div(6, 5), 2);
  EXPECT_EQ(power(7, 0), 1);
  EXPECT_EQ(power(7, 3), 343);
  EXPECT_EQ(power(10000, 3), Index{1'000'000'000'000});
}

}  // namespace
}  // namespace tessera::testing
