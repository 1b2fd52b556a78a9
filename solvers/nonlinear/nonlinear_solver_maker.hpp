// The non-linear solve is defined here, for each execution space.
#pragma once

#include <stdexcept>
#include <string>

#include "solvers/nonlinear/kinsol_run.hpp"

namespace tessera {

template <class Space>
NonlinearReport solve_nonlinear(NonlinearSystem<Space>& system, const NonlinearOptions& options,
                                Vector<double, Space>& u) {
  check_layout(u, system.layout());
  if (!(options.relative_tolerance > 0.0 && options.relative_tolerance < 1.0)) {
    throw std::invalid_argument("the relative tolerance has to be in (0, 1), and is " +
                                brief_number(options.relative_tolerance));
  }
  if (options.max_iterations < 1) {
    throw std::invalid_argument("there has to be an iteration");
  }
  if (options.acceleration < 0 || options.acceleration > kMaxAcceleration) {
    throw std::invalid_argument("the acceleration has to be 0 to " +
                                std::to_string(kMaxAcceleration) + ", and is " +
                                std::to_string(options.acceleration));
  }
  return KinsolRun<Space>(system, options, u).run();
}

}  // namespace tessera
