// These tests run the order probe on a GPU.
#include <gtest/gtest.h>

#include <algorithm>
#include <stdexcept>

#include "src/studies/update_order/device_order_probe.hpp"
#include "tests/device_test.hpp"

namespace tessera::testing {
namespace {

constexpr Index kComponents = 1 << 16;

TEST(DeviceOrderProbe, TheControlUpdatesEverythingOnTheGpu) {
  TESSERA_REQUIRE_DEVICE();
  DeviceOrderProbe probe(kComponents);
  for (const LoadPath path : {LoadPath::cached, LoadPath::l2}) {
    for (const int block : probe_blocks(ProbeKernel::kernel0)) {
      const ProbeResult result = probe.run({ProbeKernel::kernel0, path, block}, 101);
      EXPECT_EQ(result.executions, 200);
      EXPECT_EQ(result.seconds.size(), 2U);
      EXPECT_EQ(result.faults, 0) << block;
      EXPECT_EQ(places_of(result.counts, block).all(), 0) << block;
    }
  }
}

// A neighbor that was updated is 0, so at most every other component stays 1.
TEST(DeviceOrderProbe, WhatStaysOneHasAZeroBesideItOnTheGpu) {
  TESSERA_REQUIRE_DEVICE();
  DeviceOrderProbe probe(kComponents);
  for (const ProbeKernel kernel : {ProbeKernel::kernel1, ProbeKernel::kernel2}) {
    for (const LoadPath path : {LoadPath::cached, LoadPath::l2}) {
      for (const int block : probe_blocks(kernel)) {
        const ProbeResult result = probe.run({kernel, path, block}, 200);
        EXPECT_EQ(result.faults, 0) << block;
        const std::int64_t all = places_of(result.counts, block).all();
        EXPECT_LE(all, 200 * kComponents / 2) << block;
      }
    }
  }
}

TEST(DeviceOrderProbe, EveryBlockTakesOneTicketOnTheGpu) {
  TESSERA_REQUIRE_DEVICE();
  DeviceOrderProbe probe(kComponents);
  for (const int block : {8, 64, 256}) {
    EXPECT_GT(probe.resident_blocks_of_starts(block), 0);
    const std::vector<BlockStart> starts = probe.starts(block);
    ASSERT_EQ(std::ssize(starts), kComponents / block);
    std::vector<std::uint32_t> tickets;
    for (const BlockStart& start : starts) {
      tickets.push_back(start.ticket);
      EXPECT_GT(start.nanoseconds, 0U);
    }
    std::sort(tickets.begin(), tickets.end());
    for (std::size_t i = 0; i < tickets.size(); ++i) ASSERT_EQ(tickets[i], i);
  }
}

TEST(DeviceOrderProbe, OtherSizesAreRefusedOnTheGpu) {
  TESSERA_REQUIRE_DEVICE();
  DeviceOrderProbe probe(kComponents);
  EXPECT_THROW(static_cast<void>(probe.run({ProbeKernel::kernel2, LoadPath::l2, 64}, 1)),
               std::invalid_argument);
  EXPECT_THROW(DeviceOrderProbe(kComponents + 1), std::invalid_argument);
}

}  // namespace
}  // namespace tessera::testing
