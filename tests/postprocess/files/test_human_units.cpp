// These tests look at numbers with units.
#include <gtest/gtest.h>

#include <cmath>

#include "postprocess/files/human_units.hpp"

namespace tessera {
namespace {

TEST(HumanUnits, Seconds) {
  EXPECT_EQ(human_seconds(0.0), "0 s");
  EXPECT_EQ(human_seconds(0.0123), "12.3 ms");
  EXPECT_EQ(human_seconds(4.5678e-6), "4.57 us");
  EXPECT_EQ(human_seconds(0.9996), "1.00 s");
  EXPECT_EQ(human_seconds(9.999), "10.0 s");
  EXPECT_EQ(human_seconds(99.99), "100 s");
  EXPECT_EQ(human_seconds(125.2), "2 min 05 s");
  EXPECT_EQ(human_seconds(3599.9), "1 h 00 min");
  EXPECT_EQ(human_seconds(7380.0), "2 h 03 min");
  EXPECT_EQ(human_seconds(std::nan("")), "-");
}

TEST(HumanUnits, Sizes) {
  EXPECT_EQ(human_bytes(512), "512 B");
  EXPECT_EQ(human_bytes(1.5 * 1024 * 1024 * 1024), "1.50 GiB");
  EXPECT_EQ(human_count(999), "999");
  EXPECT_EQ(human_count(2146689), "2.15 M");
}

TEST(HumanUnits, Energies) {
  EXPECT_EQ(human_joules(0.0), "0 J");
  EXPECT_EQ(human_joules(1.8e-6), "1.80 uJ");
  EXPECT_EQ(human_joules(123.4), "123 J");
  EXPECT_EQ(human_joules(4.56e9), "4560 MJ");
}

TEST(HumanUnits, Rates) {
  EXPECT_EQ(human_dofs_per_second(1.04e8), "104 MDoF/s");
  EXPECT_EQ(human_bytes_per_second(1.82e10), "18.2 GB/s");
  EXPECT_EQ(human_flops_per_second(1.18e11), "118 GFLOP/s");
  EXPECT_EQ(human_dofs_per_second(999.6e6), "1.00 GDoF/s");
  EXPECT_EQ(human_percent(0.1234), "12.3 %");
  EXPECT_EQ(human_percent(INFINITY), "-");
}

TEST(HumanUnits, NumbersThatAreRoundingAreZero) {
  EXPECT_EQ(human_number(0.12345678, 1.0, 4), "0.1235");
  EXPECT_EQ(human_number(-6e-17, 1.0, 4), "0");
  EXPECT_EQ(human_number(-6e-17, 1e-16, 4), "-6e-17");
}

}  // namespace
}  // namespace tessera
