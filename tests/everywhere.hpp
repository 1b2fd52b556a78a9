// These are the precisions and memories that typed and parameterized tests run in.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <tuple>
#include <type_traits>
#include <vector>

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

/// What a tolerance is in each precision.
template <class T>
constexpr double in_precision(double of_double, double of_float) {
  return std::is_same_v<T, double> ? of_double : of_float;
}

/// Of tests that are for the host alone.
using Precisions = ::testing::Types<double, float>;

/// "OnTheGpu", by which ctest finds the tests that need a GPU.
inline std::string place_name(Processor processor) {
  return processor == Processor::cpu ? "OnTheHost" : "OnTheGpu";
}

/// "DoubleOnTheGpu".
struct NameOfWhere {
  template <class W>
  static std::string GetName(int) {
    return (std::is_same_v<typename W::Scalar, double> ? "Double" : "Float") +
           place_name(kProcessorOf<typename W::Space>);
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

/// The processors that parameterized tests run on; without CUDA the host alone.
inline std::vector<Processor> every_processor() {
  return kHasCuda ? std::vector{Processor::cpu, Processor::gpu} : std::vector{Processor::cpu};
}

/// A test with a Processor among its parameters; skipped on the GPU where there is none.
template <class Parameters>
class EveryProcessorTest : public ::testing::TestWithParam<Parameters> {
 protected:
  void SetUp() override {
    if (processor() == Processor::gpu) TESSERA_REQUIRE_DEVICE();
  }
  static Processor processor() {
    return std::get<Processor>(::testing::TestWithParam<Parameters>::GetParam());
  }
  /// f.operator()<Space>() with the processor's space.
  template <class F>
  static auto in_space_of_processor(F&& f) {
    if constexpr (kHasCuda) {
      if (processor() == Processor::gpu) return f.template operator()<Device>();
    }
    return f.template operator()<Host>();
  }
};

}  // namespace tessera::testing
