// A Method is a parameter of tests of time integration.
#pragma once

#include <gtest/gtest.h>

#include <ostream>
#include <string>

#include "solvers/time/time_method.hpp"

namespace tessera::testing {

struct Method {
  TimeMethod method;
  int order;
  int nodes = 3;  // explicit methods need a system that is not stiff
  double step = 0.1;
};

inline std::ostream& operator<<(std::ostream& out, const Method& m) {
  constexpr const char* kNames[] = {"BackwardEuler", "Bdf", "Sdirk", "ExplicitRk"};
  return out << kNames[static_cast<int>(m.method)] << m.order;
}
inline std::string name_of(const ::testing::TestParamInfo<Method>& info) {
  return ::testing::PrintToString(info.param);
}

}  // namespace tessera::testing
