// These functions name parameterized tests.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <tuple>

namespace tessera::testing {

using DimensionAndDegree = std::tuple<int, int>;

/// "3dDegree4".
inline std::string name_of(const ::testing::TestParamInfo<DimensionAndDegree>& tested) {
  return std::to_string(std::get<0>(tested.param)) + "dDegree" +
         std::to_string(std::get<1>(tested.param));
}

}  // namespace tessera::testing
