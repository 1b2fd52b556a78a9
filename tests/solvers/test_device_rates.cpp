// Tests of what is measured of a GPU.
#include <gtest/gtest.h>

#include "solvers/memory/device.hpp"
#include "tests/device_test.hpp"

namespace tessera {
namespace {

TEST(DeviceRates, AreThoseOfAGpu) {
  TESSERA_REQUIRE_DEVICE();
  if constexpr (kHasCuda) {
    const std::int64_t counted = peak_device_bytes();
    const double copy = measure_device_copy_bandwidth();
    const DevicePeaks peaks = measure_device_peaks();
    // From a small card to ten times an H200: a wrong unit or a loop optimized away is outside.
    EXPECT_GT(copy, 5e10);
    EXPECT_LT(copy, 5e13);
    EXPECT_GT(peaks.l2_bytes_per_second, copy);
    EXPECT_LT(peaks.l2_bytes_per_second, 1e14);
    EXPECT_GT(peaks.double_flops_per_second, 5e10);
    EXPECT_LT(peaks.double_flops_per_second, 5e14);
    EXPECT_GT(peaks.single_flops_per_second, 1e12);
    EXPECT_LT(peaks.single_flops_per_second, 1e15);
    EXPECT_EQ(peak_device_bytes(), counted);
    EXPECT_GT(require_device().l2_bytes, 1 << 20);
  }
}

}  // namespace
}  // namespace tessera
