// These are the precisions and memories that typed tests run in.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <type_traits>

#include "solvers/execution.hpp"
#include "tests/device_test.hpp"

namespace tessera::testing {

template <class T, class S>
struct Where {
  using Scalar = T;
  using Space = S;
};

/// {double, float} x {Host, Device}; without CUDA on the host alone.
using Everywhere = std::conditional_t<kHasCuda,
                                      ::testing::Types<Where<double, Host>, Where<float, Host>,
                                                       Where<double, Device>, Where<float, Device>>,
                                      ::testing::Types<Where<double, Host>, Where<float, Host>>>;

/// "DoubleOnTheGpu".
struct NameOfWhere {
  template <class W>
  static std::string GetName(int) {
    return std::string(std::is_same_v<typename W::Scalar, double> ? "Double" : "Float") +
           (std::is_same_v<typename W::Space, Host> ? "OnTheHost" : "OnTheGpu");
  }
};

/// A typed test over Everywhere; those on the GPU are skipped where there is none.
template <class W>
class EverywhereTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if constexpr (std::is_same_v<typename W::Space, Device>) TESSERA_REQUIRE_DEVICE();
  }
};

}  // namespace tessera::testing
