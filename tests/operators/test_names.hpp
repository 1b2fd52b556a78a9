// These functions name parameterized tests.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <tuple>

#include "tests/everywhere.hpp"

namespace tessera::testing {

using DimensionAndDegree = std::tuple<int, int>;

/// "3dDegree4".
inline std::string name_of(const ::testing::TestParamInfo<DimensionAndDegree>& tested) {
  return std::to_string(std::get<0>(tested.param)) + "dDegree" +
         std::to_string(std::get<1>(tested.param));
}

using DegreeAndProcessor = std::tuple<int, int, Processor>;

/// "3dDegree4OnTheGpu".
inline std::string name_with_processor(const ::testing::TestParamInfo<DegreeAndProcessor>& tested) {
  const auto [dimension, degree, processor] = tested.param;
  return name_of({DimensionAndDegree{dimension, degree}, tested.index}) + place_name(processor);
}

inline std::string name_of_processor(
    const ::testing::TestParamInfo<std::tuple<Processor>>& tested) {
  return place_name(std::get<Processor>(tested.param));
}

}  // namespace tessera::testing
