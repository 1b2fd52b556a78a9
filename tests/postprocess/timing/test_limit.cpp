// Tests of what limits some work.
#include <gtest/gtest.h>

#include "postprocess/timing/limit.hpp"

namespace tessera {
namespace {

const MachineRates kMachine = {
    20e9, 100e9, {{"L1", 1e5, 500e9}, {"L2", 4e6, 200e9}, {"L3", 64e6, 50e9}}};
const MachineRates kWithoutCaches = {20e9, 100e9, {}};

TEST(Limit, IsTheSlowerOfMovingAndComputing) {
  const Limit moving = limit_of({1e6, 20e9, 90e9}, kWithoutCaches);
  EXPECT_EQ(moving.name, "copy");
  EXPECT_DOUBLE_EQ(moving.seconds, 1.0);
  EXPECT_DOUBLE_EQ(moving.share(4.0), 0.25);
  const Limit computing = limit_of({1e6, 20e9, 150e9}, kWithoutCaches);
  EXPECT_EQ(computing.name, "fma");
  EXPECT_DOUBLE_EQ(computing.seconds, 1.5);
}

TEST(Limit, IsNotKnownWithoutBytesOrRates) {
  EXPECT_EQ(limit_of({1e6, 0.0, 1e9}, kMachine).seconds, 0.0);
  EXPECT_EQ(limit_of({1e6, 1e9, 1e9}, {}).seconds, 0.0);
  EXPECT_EQ(limit_of({1e6, 1e9, 1e9}, {}).name, "");
  EXPECT_EQ(limit_of({1e6, 1e9, 1e9}, {0.0, 100e9, {}}).name, "fma");
  EXPECT_EQ(limit_of({1e6, 1e9, 1e9}, {20e9, 0.0, {}}).name, "copy");
  EXPECT_EQ(Limit().share(0.0), 0.0);
}

TEST(Limit, IsThatOfTheCacheThatHoldsTheData) {
  EXPECT_EQ(limit_of({1.0, 5e4}, kMachine).name, "L1");
  EXPECT_DOUBLE_EQ(limit_of({1.0, 5e4}, kMachine).seconds, 5e4 / 500e9);
  const Limit in_l2 = limit_of({1.0, 4e6}, kMachine);
  EXPECT_EQ(in_l2.name, "L2");
  EXPECT_DOUBLE_EQ(in_l2.seconds, 1e5 / 500e9 + 3.9e6 / 200e9);
  EXPECT_EQ(limit_of({1.0, 40e6}, kMachine).name, "L3");
}

TEST(Limit, CountsWhatFitsInACacheAsMovedFromThere) {
  const Limit limit = limit_of({1.0, 1e9}, kMachine);
  EXPECT_EQ(limit.name, "copy");
  EXPECT_DOUBLE_EQ(limit.seconds, 1e5 / 500e9 + 3.9e6 / 200e9 + 60e6 / 50e9 + (1e9 - 64e6) / 20e9);
  // No jump where a cache begins to be too small.
  EXPECT_NEAR(limit_of({1.0, 4e6}, kMachine).seconds, limit_of({1.0, 4e6 + 8}, kMachine).seconds,
              1e-9);
}

TEST(Limit, LooksAtTheDataWhereThoseAreMovedMoreThanOnce) {
  const Limit limit = limit_of({.bytes = 9e4, .held_bytes = 9e4}, kMachine);
  EXPECT_EQ(limit.name, "L1");
  const Limit repeated = limit_of({.bytes = 9e5, .held_bytes = 9e4}, kMachine);
  EXPECT_EQ(repeated.name, "L1");
  EXPECT_DOUBLE_EQ(repeated.seconds, 10.0 * limit.seconds);
}

TEST(Limit, IgnoresCachesThatWereMeasuredSlowerThanTheMemory) {
  const MachineRates disturbed = {20e9, 0.0, {{"L2", 4e6, 10e9}}};
  EXPECT_EQ(limit_of({1.0, 1e6}, disturbed).name, "copy");
  EXPECT_DOUBLE_EQ(limit_of({1.0, 1e6}, disturbed).seconds, 1e6 / 20e9);
}

TEST(Limit, TextHasWhatIsKnown) {
  EXPECT_EQ(rates_text(kMachine),
            "copy 20.0 GB/s, L1 500 GB/s, L2 200 GB/s, L3 50.0 GB/s, fma 100 GFLOP/s");
  EXPECT_EQ(rates_text({20e9, 0.0, {}}), "copy 20.0 GB/s");
  EXPECT_EQ(rates_text({}), "");
}

}  // namespace
}  // namespace tessera
