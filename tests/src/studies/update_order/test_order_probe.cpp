// These tests count inconsistencies of updates in place that are emulated, and orders of starting
// blocks that are made up.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "src/studies/update_order/order_probe.hpp"

namespace tessera::testing {
namespace {

/// kernel1 by units of so many components, each of which loads all neighbors before it stores, in
/// an order: what is left.
std::vector<double> updated_in_place(const std::vector<int>& order, int unit) {
  const int n = static_cast<int>(order.size()) * unit;
  std::vector<double> values(n, 1.0);
  for (const int part : order) {
    std::vector<int> zeros;
    for (int i = part * unit; i < (part + 1) * unit; ++i) {
      if (i > 0 && i < n - 1 && values[i - 1] == 1.0 && values[i + 1] == 1.0) zeros.push_back(i);
    }
    for (const int i : zeros) values[i] = 0.0;
  }
  return values;
}

InconsistencyCounts counts_of(const std::vector<double>& values) {
  InconsistencyCounts counts{};
  for (std::size_t i = 1; i + 1 < values.size(); ++i) {
    if (values[i] == 1.0) ++counts[i % kProbePeriod];
  }
  return counts;
}

std::vector<int> increasing(int count) {
  std::vector<int> order(count);
  std::iota(order.begin(), order.end(), 0);
  return order;
}

std::vector<int> decreasing(int count) {
  std::vector<int> order = increasing(count);
  std::reverse(order.begin(), order.end());
  return order;
}

// In increasing order the left neighbor of a warp is done first, in decreasing order the right one.
TEST(OrderProbe, EmulatedWarpsLeaveTheirFirstOrLastComponents) {
  constexpr int kWarps = 24;
  for (const int block : {64, 128, 256}) {
    const int blocks = kWarps * kWarpSize / block;
    const InconsistencyPlaces up =
        places_of(counts_of(updated_in_place(increasing(kWarps), kWarpSize)), block);
    EXPECT_EQ(up.block_first, blocks - 1);
    EXPECT_EQ(up.warp_first, kWarps - blocks);
    EXPECT_EQ(up.all(), kWarps - 1);
    const InconsistencyPlaces down =
        places_of(counts_of(updated_in_place(decreasing(kWarps), kWarpSize)), block);
    EXPECT_EQ(down.block_last, blocks - 1);
    EXPECT_EQ(down.warp_last, kWarps - blocks);
    EXPECT_EQ(down.all(), kWarps - 1);
  }
}

TEST(OrderProbe, SmallBlocksHaveNoWarpsInside) {
  for (const int block : {8, 16, 32}) {
    const int blocks = 512 / block;
    const InconsistencyPlaces places =
        places_of(counts_of(updated_in_place(increasing(blocks), block)), block);
    EXPECT_EQ(places.block_first, blocks - 1);
    EXPECT_EQ(places.all(), blocks - 1);
  }
}

TEST(OrderProbe, SingleComponentsAreElsewhere) {
  InconsistencyCounts counts{};
  counts[0] = 7;
  counts[31] = 2;
  counts[32] = 3;
  counts[33] = 5;
  counts[63] = 4;
  counts[255] = 1;
  const InconsistencyPlaces of_64 = places_of(counts, 64);
  EXPECT_EQ(of_64.block_first, 7);
  EXPECT_EQ(of_64.block_last, 5);
  EXPECT_EQ(of_64.warp_first, 3);
  EXPECT_EQ(of_64.warp_last, 2);
  EXPECT_EQ(of_64.elsewhere, 5);
  EXPECT_EQ(of_64.all(), 22);
  EXPECT_EQ(places_of(counts, 256).warp_last, 6);
  EXPECT_EQ(histogram_text(counts), "0:7 31:2 32:3 33:5 63:4 255:1");
  EXPECT_EQ(histogram_text({}), "");
}

TEST(OrderProbe, OrdersOfStartsAreCounted) {
  // Blocks 0 .. 4 took these tickets, on these multiprocessors, at these times.
  const std::vector<BlockStart> starts = {
      {0, 7, 100}, {2, 7, 100}, {1, 8, 90}, {3, 8, 120}, {4, 9, 110}};
  const StartOrder all = start_order(starts, 0, 5);
  EXPECT_EQ(all.pairs, 4);
  EXPECT_EQ(all.increasing, 3);
  EXPECT_EQ(all.increasing_by_clock, 2);
  EXPECT_EQ(all.same_multiprocessor, 2);
  EXPECT_EQ(all.displacement, 1);
  StartOrder later = start_order(starts, 3, 5);
  EXPECT_EQ(later.pairs, 1);
  EXPECT_EQ(later.displacement, 0);
  EXPECT_EQ(start_order(starts, 5, 5).pairs, 0);
  later += all;
  EXPECT_EQ(later.pairs, 5);
  EXPECT_EQ(later.increasing, 4);
  EXPECT_EQ(later.displacement, 1);
}

}  // namespace
}  // namespace tessera::testing
