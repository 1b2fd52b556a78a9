// These tests compare order statistics with their definitions.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "postprocess/timing/statistics.hpp"

namespace tessera {
namespace {

TEST(Statistics, MedianIsTheMiddleOrTheMeanOfTheMiddleTwo) {
  EXPECT_EQ(median({3.0}), 3.0);
  EXPECT_EQ(median({5.0, 1.0}), 3.0);
  EXPECT_EQ(median({9.0, 1.0, 2.0}), 2.0);
  EXPECT_EQ(median({8.0, 1.0, 4.0, 2.0}), 3.0);
}

TEST(Statistics, QuantilesAreLinearBetweenNeighbors) {
  const std::vector<double> values = {40.0, 10.0, 30.0, 20.0};
  EXPECT_EQ(quantile(values, 0.0), 10.0);
  EXPECT_EQ(quantile(values, 1.0), 40.0);
  EXPECT_DOUBLE_EQ(quantile(values, 0.25), 17.5);
  EXPECT_DOUBLE_EQ(quantile(values, 0.75), 32.5);
  EXPECT_DOUBLE_EQ(quantile(values, 0.1), 13.0);
  EXPECT_EQ(quantile({0.1, 0.1, 0.1}, 0.3), 0.1);
}

TEST(Statistics, ASummaryHasAllOfThem) {
  const Summary summary = summarize({5.0, 2.0, 4.0, 1.0, 3.0});
  EXPECT_EQ(summary.count, 5);
  EXPECT_EQ(summary.minimum, 1.0);
  EXPECT_EQ(summary.lower_quartile, 2.0);
  EXPECT_EQ(summary.median, 3.0);
  EXPECT_EQ(summary.upper_quartile, 4.0);
  const Summary doubled = scaled(summary, 2.0);
  EXPECT_EQ(doubled.count, 5);
  EXPECT_EQ(doubled.lower_quartile, 4.0);
  EXPECT_EQ(doubled.upper_quartile, 8.0);
  EXPECT_EQ(summarize({}).count, 0);
}

// A quarter of all values is at most the lower quartile, whatever their order and number.
TEST(Statistics, QuartilesSplitRandomValues) {
  std::mt19937 random(7);
  std::uniform_real_distribution<double> uniform(-5.0, 5.0);
  for (int n = 1; n <= 40; ++n) {
    std::vector<double> values(n);
    for (double& value : values) value = uniform(random);
    const Summary summary = summarize(values);
    const auto at_most = [&](double limit) {
      return std::count_if(values.begin(), values.end(),
                           [limit](double value) { return value <= limit; });
    };
    EXPECT_LE(summary.minimum, summary.lower_quartile);
    EXPECT_LE(summary.lower_quartile, summary.median);
    EXPECT_LE(summary.median, summary.upper_quartile);
    EXPECT_GE(4 * at_most(summary.lower_quartile), n - 1);
    EXPECT_GE(2 * at_most(summary.median), n - 1);
    EXPECT_GE(4 * at_most(summary.upper_quartile), 3 * (n - 1));
    EXPECT_EQ(at_most(summary.minimum), 1);
  }
}

}  // namespace
}  // namespace tessera
