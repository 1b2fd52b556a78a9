// This macro skips a test where there is no GPU.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "solvers/memory/device.hpp"

namespace tessera::testing {

/// Why GPU tests cannot run here; empty if they can.
inline std::string why_no_device() {
  if constexpr (kHasCuda) {
    try {
      require_device();
      return "";
    } catch (const NoDevice& error) {
      return error.what();
    }
  } else {
    return "built without CUDA";
  }
}

}  // namespace tessera::testing

/// Ends the test as skipped, and says why, where there is no GPU.
#define TESSERA_REQUIRE_DEVICE()                                                         \
  if (const std::string reason = ::tessera::testing::why_no_device(); !reason.empty()) { \
    GTEST_SKIP() << reason;                                                              \
  }                                                                                      \
  static_assert(true)
