// The integrator of a method is made here, for each execution space.
#pragma once

#include <cmath>
#include <stdexcept>

#include "solvers/time/bdf.hpp"
#include "solvers/time/fixed_implicit.hpp"
#include "solvers/time/runge_kutta.hpp"
#include "solvers/time/time_integrator.hpp"

namespace tessera {

template <class Space>
std::unique_ptr<TimeIntegrator<Space>> make_time_integrator(TimeSystem<Space>& system,
                                                            const TimeOptions& options,
                                                            Vector<double, Space>& w) {
  check_layout(w, system.layout());
  const auto check_positive = [](double value, const char* name) {
    if (!(value > 0.0 && std::isfinite(value))) {
      throw std::invalid_argument(std::string(name) + " has to be positive, and is " +
                                  brief_number(value));
    }
  };
  if (!std::isfinite(options.start)) throw std::invalid_argument("the start is not finite");
  if (options.step) check_positive(*options.step, "the step");
  if (options.max_step) check_positive(*options.max_step, "the longest step");
  if (options.first_step) check_positive(*options.first_step, "the first step");
  check_positive(options.tolerance, "the tolerance");
  if (options.absolute_tolerance) {
    check_positive(*options.absolute_tolerance, "the absolute tolerance");
  }
  check_positive(options.nonlinear_tolerance, "the tolerance of stages");
  check_positive(options.max_nonlinear_iterations, "the number of iterations for a stage");
  if (options.method == TimeMethod::bdf) return std::make_unique<Bdf<Space>>(system, options, w);
  if (FixedImplicit<Space>::is_for(system, options)) {
    return std::make_unique<FixedImplicit<Space>>(system, options, w);
  }
  return std::make_unique<RungeKutta<Space>>(system, options, w);
}

}  // namespace tessera
