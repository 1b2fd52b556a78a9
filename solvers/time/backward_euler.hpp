// The implicit Euler method with steps of a fixed length.
#pragma once

#include "solvers/time/fixed_steps.hpp"
#include "solvers/time/step_callbacks.hpp"
#include "solvers/time/time_integrator.hpp"

namespace tessera {

/// w += x with (M + dt A) x = dt f(t + dt, w). There is nothing to estimate and one stage, so that
/// SUNDIALS would only copy vectors: more passes over memory than all the rest of a step has beside
/// its solve.
template <class Space>
class BackwardEuler final : public TimeIntegrator<Space> {
 public:
  using V = Vector<double, Space>;

  BackwardEuler(TimeSystem<Space>& system, const TimeOptions& options, V& w)
      : length_(*options.step),
        t_(options.start),
        w_(w),
        callbacks_(system, options),
        rate_(system.layout()),
        correction_(system.layout()) {
    if (options.order != 1) {
      throw std::invalid_argument("backward-euler has order 1, not " +
                                  std::to_string(options.order));
    }
  }

  double t() const override { return t_; }

  TimeStep step(double until) override {
    const FixedStep next = next_fixed_step(t_, until, length_);
    callbacks_.set_failure({});
    const int result =
        callbacks_.solve_stage(next.end, next.dt, w_, 1.0, nullptr, rate_, rate_, correction_);
    callbacks_.carried().rethrow();
    if (result != kCallbackDone) throw TimeStepError(t_, next.dt, callbacks_.take_failure());
    axpy(1.0, correction_, w_);
    t_ = next.end;
    return {.t = t_,
            .dt = next.dt,
            .linear_iterations = callbacks_.take_iterations(),
            .next_dt = length_};
  }

 private:
  double length_;
  double t_;
  V& w_;
  StepCallbacks<Space> callbacks_;
  V rate_;
  V correction_;
};

}  // namespace tessera
