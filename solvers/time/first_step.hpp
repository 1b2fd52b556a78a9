// The length of the first adaptive step is estimated here.
#pragma once

#include <algorithm>
#include <cmath>
#include <string>

#include "solvers/time/step_callbacks.hpp"
#include "solvers/time/time_integrator.hpp"

namespace tessera {

/// The length of a first step from w at t, by the estimate of Hairer, Norsett and Wanner (Solving
/// Ordinary Differential Equations I, II.4) in TimeSystem::error_norm(). SUNDIALS' own needs the
/// error weight of each entry.
/// @param order the order of the error estimate
/// @throws TimeStepError, what the system throws
template <class Space>
double estimate_first_step(StepCallbacks<Space>& callbacks, double t, double until, int order,
                           const Vector<double, Space>& w) {
  using V = Vector<double, Space>;
  const auto check = [&](int result) {
    callbacks.carried().rethrow();
    if (result != kCallbackDone) throw TimeStepError(t, 0.0, callbacks.take_failure());
  };
  check(callbacks.set_weights(w));
  const auto weighted = [&](const V& x) {
    const double norm = callbacks.system().error_norm(x) / callbacks.scale();
    if (!std::isfinite(norm)) throw TimeStepError(t, 0.0, "the solution is not finite");
    return norm;
  };

  const VectorLayout layout = callbacks.system().layout();
  V rate(layout);
  check(callbacks.evaluate(t, w, rate));
  const double size = weighted(w);
  const double slope = weighted(rate);
  const double longest = until - t;
  const double guess =
      std::min(longest, size < 1e-5 || slope < 1e-5 ? 1e-6 * longest : 0.01 * size / slope);

  V later(layout);
  copy(w, later);
  axpy(guess, rate, later);
  V change(layout);
  check(callbacks.evaluate(t + guess, later, change));
  axpy(-1.0, rate, change);
  const double curvature = weighted(change) / guess;
  const double steepest = std::max(slope, curvature);
  const double estimate = steepest <= 1e-15 ? std::max(1e-6 * longest, 1e-3 * guess)
                                            : std::pow(0.01 / steepest, 1.0 / (order + 1));
  return std::min({100.0 * guess, estimate, longest});
}

/// The length of the first adaptive step: what is asked for or estimated, but no more than the
/// longest.
template <class Space>
double choose_first_step(const TimeOptions& options, StepCallbacks<Space>& callbacks, double t,
                         double until, int order, const Vector<double, Space>& w) {
  const double chosen =
      options.first_step ? *options.first_step : estimate_first_step(callbacks, t, until, order, w);
  return options.max_step ? std::min(chosen, *options.max_step) : chosen;
}

}  // namespace tessera
