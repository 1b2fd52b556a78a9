// Runge-Kutta methods, implicit and explicit, by ARKStep of SUNDIALS.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <utility>

#include "solvers/time/butcher_tables.hpp"
#include "solvers/time/first_step.hpp"
#include "solvers/time/fixed_steps.hpp"
#include "solvers/time/stage_solver.hpp"
#include "solvers/time/step_callbacks.hpp"
#include "solvers/time/step_errors.hpp"
#include "solvers/time/time_integrator.hpp"

namespace tessera {

template <class Space>
class RungeKutta final : public TimeIntegrator<Space>, private StageSolver {
 public:
  using V = Vector<double, Space>;
  using NV = SundialsVector<Space>;

  RungeKutta(TimeSystem<Space>& system, const TimeOptions& options, V& w)
      : options_(options),
        t_(options.start),
        w_(w),
        callbacks_(system, options),
        context_(make_sundials_context()),
        w_vector_(NV::wrap(w, system.layout(), callbacks_, callbacks_.carried(), context_.get())) {
    const bool is_explicit = options.method == TimeMethod::explicit_rk;
    const auto table = make_butcher_table(options.method, options.order,
                                          options.step ? StepLength::fixed : StepLength::adaptive);
    estimate_order_ = table->p;
    reuses_last_stage_ = !options.step && ends_with_solution(*table);
    for (int i = 0; i < table->stages; ++i) {
      for (int j = 0; j < i; ++j) stages_have_history_ |= table->A[i][j] != 0.0;
    }

    memory_.reset(ARKStepCreate(is_explicit ? evaluate : nullptr, is_explicit ? nullptr : evaluate,
                                t_, w_vector_.get(), context_.get()));
    if (!memory_) throw std::bad_alloc();
    void* const memory = memory_.get();
    check_option(ARKStepSetErrHandlerFn(memory, ignore_message, nullptr));
    check_option(ARKStepSetUserData(memory, this));
    check_option(ARKStepWFtolerances(memory, set_weights));
    check_option(ARKStepSetTables(memory, table->q, table->p, is_explicit ? nullptr : table.get(),
                                  is_explicit ? table.get() : nullptr));
    // Of the interpolation between steps we need the value at their ends only.
    check_option(ARKStepSetInterpolantType(memory, ARK_INTERP_LAGRANGE));
    check_option(ARKStepSetInterpolantDegree(memory, 0));
    check_option(ARKStepSetPostprocessStepFn(memory, check_finite));
    if (options.max_step) check_option(ARKStepSetMaxStep(memory, *options.max_step));
    if (!is_explicit) {
      stage_solver_ = make_stage_solver(*this, context_.get());
      check_option(ARKStepSetNonlinearSolver(memory, stage_solver_.get()));
      // F of an implicit stage follows from its solution, without another solve.
      check_option(ARKStepSetDeduceImplicitRhs(memory, SUNTRUE));
      // From w: nothing of earlier steps is used, and an integration that begins anew from here
      // goes on with the same bits.
      check_option(ARKStepSetPredictorMethod(memory, 0));
    }
  }

  double t() const override { return t_; }

  TimeStep step(double until) override {
    return options_.step ? fixed_step(until) : adaptive_step(until);
  }

 private:
  // Of times, in units of their last digit.
  static constexpr double kRounding = 100.0;

  // F of a stage: where it is kept, and its time.
  struct KnownRate {
    double t = 0.0;
    const V* rate = nullptr;
  };

  TimeStep fixed_step(double until) {
    const FixedStep next = next_fixed_step(t_, until, *options_.step);
    check_option(ARKStepSetFixedStep(memory_.get(), next.dt));
    const double reached = evolve(until, next.dt);
    t_ = next.end;
    if (t_ != reached) {
      check_option(ARKStepReset(memory_.get(), t_, w_vector_.get()));
      is_set_up_ = false;
    }
    return {.t = t_,
            .dt = next.dt,
            .linear_iterations = callbacks_.take_iterations(),
            .nonlinear_iterations = callbacks_.take_nonlinear_iterations(),
            .next_dt = *options_.step};
  }

  TimeStep adaptive_step(double until) {
    if (!(until > t_)) throw std::invalid_argument("a step has to end after the time it begins");
    void* const memory = memory_.get();
    if (next_dt_ == 0.0) {
      next_dt_ = choose_first_step(options_, callbacks_, t_, until, estimate_order_, w_);
      check_option(ARKStepSetInitStep(memory, next_dt_));
    }
    if (t_ + next_dt_ == t_) throw vanishing_step(t_, next_dt_, callbacks_.take_failure());
    const double remaining = until - t_;
    // Two equal steps instead of a full one and a tiny one. The second of them is no longer than
    // the first but for rounding, which ARKStep passes over as well.
    const double rounding =
        kRounding * std::numeric_limits<double>::epsilon() * (std::abs(t_) + next_dt_);
    const bool is_halved = next_dt_ + rounding < remaining && remaining < 2.0 * next_dt_;
    const double stop = is_halved ? t_ + 0.5 * remaining : until;
    check_option(ARKStepSetStopTime(memory, stop));

    const double before = t_;
    t_ = evolve(until, next_dt_);
    long attempts = 0;
    check_option(ARKStepGetNumStepAttempts(memory, &attempts));
    double proposed = 0.0;
    check_option(ARKStepGetCurrentStep(memory, &proposed));
    const double wanted = next_dt_;
    const bool is_shortened = t_ == stop && t_ - before < wanted;
    // ARKStep has shortened what it proposes if it would go beyond the stop.
    next_dt_ = t_ - before < next_dt_ ? std::max(proposed, t_ - before) : proposed;
    return {.t = t_,
            .dt = t_ - before,
            .error_estimate = callbacks_.last_norm(),
            .size = callbacks_.size(),
            .linear_iterations = callbacks_.take_iterations(),
            .nonlinear_iterations = callbacks_.take_nonlinear_iterations(),
            .rejected =
                std::max(0, static_cast<int>(attempts - std::exchange(attempts_, attempts)) - 1),
            .next_dt = is_shortened ? wanted : next_dt_};
  }

  // Makes a step and returns the time that it reaches.
  double evolve(double until, double dt) {
    callbacks_.set_failure({});
    double reached = t_;
    const int flag = ARKStepEvolve(memory_.get(), until, w_vector_.get(), &reached, ARK_ONE_STEP);
    callbacks_.carried().rethrow();
    if (flag < 0) {
      double attempted = dt;
      if (!options_.step) ARKStepGetCurrentStep(memory_.get(), &attempted);
      throw step_error(flag, t_, attempted, callbacks_.take_failure());
    }
    return reached;
  }

  int solve_stage(void* integrator, N_Vector x) override {
    int result = kCallbackFailed;
    callbacks_.carried().call([&] {
      double t = 0.0;
      double gamma = 0.0;
      N_Vector predicted = nullptr;
      N_Vector stage = nullptr;
      N_Vector rate = nullptr;
      N_Vector history = nullptr;
      void* self = nullptr;
      check_option(ARKStepGetNonlinearSystemData(integrator, &t, &predicted, &stage, &rate, &gamma,
                                                 &history, &self));
      // ARKStep overwrites the stage and its F with what follows from x.
      result = callbacks_.solve_stage(t, gamma, NV::values(predicted), 1.0,
                                      stages_have_history_ ? &NV::values(history) : nullptr,
                                      NV::values(rate), NV::values(stage), NV::values(x));
      last_stage_ = {t, &NV::values(rate)};
    });
    return result;
  }

  // F of an explicit stage. Adaptive steps take that of the first stage from the step before, and
  // keep it if they are tried anew; fixed steps compute it, for the bits of a new beginning.
  int evaluate_stage(double t, const V& w, V& rate) {
    if (reuses_last_stage_) {
      if (first_stage_.t == t && first_stage_.rate == &rate) return kCallbackDone;
      if (last_stage_.t == t && last_stage_.rate != nullptr && last_stage_.rate != &rate) {
        copy(*last_stage_.rate, rate);
        if (stage_solver_) first_stage_ = {t, &rate};
        return kCallbackDone;
      }
    }
    const int result = callbacks_.evaluate(t, w, rate);
    if (result == kCallbackDone) (stage_solver_ ? first_stage_ : last_stage_) = {t, &rate};
    return result;
  }

  static int evaluate(double t, N_Vector w, N_Vector rate, void* data) {
    RungeKutta& self = *static_cast<RungeKutta*>(data);
    // ARKStep evaluates F once at the start, for interpolations that we do without.
    if (!std::exchange(self.is_set_up_, true)) return kCallbackDone;
    int result = kCallbackFailed;
    self.callbacks_.carried().call(
        [&] { result = self.evaluate_stage(t, NV::values(w), NV::values(rate)); });
    return result;
  }

  static int set_weights(N_Vector w, N_Vector /*weights*/, void* data) {
    return static_cast<RungeKutta*>(data)->callbacks_.set_weights(NV::values(w));
  }

  static int check_finite(double /*t*/, N_Vector w, void* data) {
    StepCallbacks<Space>& callbacks = static_cast<RungeKutta*>(data)->callbacks_;
    int result = kCallbackFailed;
    callbacks.carried().call([&] {
      if (std::isfinite(dot(NV::values(w), NV::values(w)))) {
        result = kCallbackDone;
      } else {
        callbacks.set_failure("the solution is not finite");
      }
    });
    return result;
  }

  TimeOptions options_;
  double t_;
  V& w_;
  StepCallbacks<Space> callbacks_;
  SundialsHandle<SUNContext> context_;
  SundialsHandle<N_Vector> w_vector_;
  SundialsHandle<SUNNonlinearSolver> stage_solver_;
  std::unique_ptr<void, ArkodeDeleter> memory_;
  bool stages_have_history_ = false;
  bool reuses_last_stage_ = false;
  bool is_set_up_ = false;
  int estimate_order_ = 0;
  double next_dt_ = 0.0;
  long attempts_ = 0;
  KnownRate first_stage_;
  KnownRate last_stage_;
};

}  // namespace tessera
