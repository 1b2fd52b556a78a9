// What SUNDIALS returns is turned into errors here; ARKStep's numbers for them are CVODE's.
#pragma once

#include <new>
#include <stdexcept>
#include <string>

#include "solvers/sundials/sundials_handles.hpp"
#include "solvers/time/time_integrator.hpp"

namespace tessera {

/// For the functions of ARKStep and CVODE that choose options, whose arguments are ours.
inline void check_option(int flag) {
  if (flag == ARK_MEM_FAIL) throw std::bad_alloc();
  if (flag < 0) throw std::logic_error("SUNDIALS refuses an option: " + std::to_string(flag));
}

/// The error of a step that ended with `flag` < 0.
/// @param failure what went wrong last in a callback; may be empty
inline TimeStepError step_error(int flag, double t, double dt, const std::string& failure) {
  if (!failure.empty()) return TimeStepError(t, dt, failure);
  if (flag == ARK_ERR_FAILURE) {
    return TimeStepError(t, dt, "its estimated error is above the tolerance, however short it is");
  }
  if (flag == ARK_TOO_MUCH_ACC) {
    return TimeStepError(t, dt, "the tolerance is below the rounding errors of the solution");
  }
  return TimeStepError(t, dt, "SUNDIALS says " + std::to_string(flag));
}

/// A step that is too short to change t.
/// @param failure why it is so short, if that is known
inline TimeStepError vanishing_step(double t, double dt, const std::string& failure) {
  return TimeStepError(t, dt,
                       failure.empty()
                           ? "it is too short to change t"
                           : failure + ", and the step has become too short to change t");
}

}  // namespace tessera
