// Backward differentiation formulas, by CVODE of SUNDIALS.
#pragma once

#include <memory>
#include <utility>

#include "solvers/time/first_step.hpp"
#include "solvers/time/stage_solver.hpp"
#include "solvers/time/step_callbacks.hpp"
#include "solvers/time/step_errors.hpp"
#include "solvers/time/time_integrator.hpp"

namespace tessera {

template <class Space>
class Bdf final : public TimeIntegrator<Space>, private StageSolver {
 public:
  using V = Vector<double, Space>;
  using NV = SundialsVector<Space>;

  Bdf(TimeSystem<Space>& system, const TimeOptions& options, V& w)
      : options_(options),
        t_(options.start),
        w_(w),
        callbacks_(system, options),
        context_(make_sundials_context()),
        w_vector_(NV::wrap(w, system.layout(), callbacks_, callbacks_.carried(), context_.get())) {
    if (options.step) throw std::invalid_argument("bdf has no fixed steps");
    if (options.order < 1 || options.order > 5) {
      throw std::invalid_argument("bdf has order 1 to 5, not " + std::to_string(options.order));
    }
    memory_.reset(CVodeCreate(CV_BDF, context_.get()));
    if (!memory_) throw std::bad_alloc();
    void* const memory = memory_.get();
    check_option(CVodeSetErrHandlerFn(memory, ignore_message, nullptr));
    check_option(CVodeSetUserData(memory, this));
    check_option(CVodeSetMaxOrd(memory, options.order));
    check_option(CVodeInit(memory, evaluate, t_, w_vector_.get()));
    if (options.max_step) check_option(CVodeSetMaxStep(memory, *options.max_step));
    check_option(CVodeWFtolerances(memory, set_weights));
    stage_solver_ = make_stage_solver(*this, context_.get());
    check_option(CVodeSetNonlinearSolver(memory, stage_solver_.get()));
  }

  double t() const override { return t_; }

  TimeStep step(double until) override {
    if (!(until > t_)) throw std::invalid_argument("a step has to end after the time it begins");
    void* const memory = memory_.get();
    const double before = t_;
    double reached = t_;
    int rejected = 0;
    int flag = attempt(until, reached);
    // A polynomial through the values before does not meet data that jump at t.
    if (flag == CV_ERR_FAILURE && begun_at_ != t_) {
      rejected = take_rejected();
      begin_anew();
      flag = attempt(until, reached);
    }
    if (flag < 0) {
      CVodeGetCurrentStep(memory, &next_dt_);
      throw step_error(flag, t_, next_dt_, callbacks_.take_failure());
    }
    t_ = reached;
    check_option(CVodeGetCurrentStep(memory, &next_dt_));
    return {.t = t_,
            .dt = t_ - before,
            .error_estimate = error_estimate(),
            .size = callbacks_.size(),
            .linear_iterations = callbacks_.take_iterations(),
            .nonlinear_iterations = callbacks_.take_nonlinear_iterations(),
            .rejected = rejected + take_rejected(),
            .next_dt = next_dt_};
  }

 private:
  // What CVODE has for the equation of a stage, w = predicted + x.
  struct Stage {
    double t = 0.0;
    double gamma = 0.0;
    double factor = 0.0;
    N_Vector predicted = nullptr;
    N_Vector w = nullptr;
    N_Vector rate = nullptr;
    N_Vector history = nullptr;
  };
  static Stage stage_of(void* memory) {
    Stage s;
    void* self = nullptr;
    check_option(CVodeGetNonlinearSystemData(memory, &s.t, &s.predicted, &s.w, &s.rate, &s.gamma,
                                             &s.factor, &s.history, &self));
    return s;
  }

  // One step of CVODE, after an estimate of its length if it is the first one. Returns its flag.
  int attempt(double until, double& reached) {
    void* const memory = memory_.get();
    if (next_dt_ == 0.0) {
      // The first step is one of order 1.
      next_dt_ = choose_first_step(options_, callbacks_, t_, until, 1, w_);
      check_option(CVodeSetInitStep(memory, next_dt_));
    }
    if (t_ + next_dt_ == t_) throw vanishing_step(t_, next_dt_, callbacks_.take_failure());
    check_option(CVodeSetStopTime(memory, until));
    callbacks_.set_failure({});
    const int flag = CVode(memory, until, w_vector_.get(), &reached, CV_ONE_STEP);
    callbacks_.carried().rethrow();
    return flag;
  }

  // Forgets what was before t, but for w.
  void begin_anew() {
    check_option(CVodeReInit(memory_.get(), t_, w_vector_.get()));
    begun_at_ = t_;
    rejected_ = 0;
    next_dt_ = 0.0;
    options_.first_step.reset();
  }

  // Attempts that were rejected since this was asked last.
  int take_rejected() {
    long errors = 0;
    long failures = 0;
    check_option(CVodeGetNumErrTestFails(memory_.get(), &errors));
    check_option(CVodeGetNumStepSolveFails(memory_.get(), &failures));
    return static_cast<int>(errors + failures - std::exchange(rejected_, errors + failures));
  }

  double error_estimate() {
    // The vector for F is free between steps.
    void* const memory = memory_.get();
    N_Vector error = stage_of(memory).rate;
    check_option(CVodeGetEstLocalErrors(memory, error));
    return callbacks_.system().error_norm(NV::values(error));
  }

  int solve_stage(void* integrator, N_Vector x) override {
    int result = kCallbackFailed;
    callbacks_.carried().call([&] {
      const Stage s = stage_of(integrator);
      // CVODE overwrites w with what follows from x, and does not need F.
      result = callbacks_.solve_stage(s.t, s.gamma, NV::values(s.predicted), -s.factor,
                                      &NV::values(s.history), NV::values(s.rate), NV::values(s.w),
                                      NV::values(x));
    });
    return result;
  }

  static int evaluate(double t, N_Vector w, N_Vector rate, void* data) {
    StepCallbacks<Space>& callbacks = static_cast<Bdf*>(data)->callbacks_;
    int result = kCallbackFailed;
    callbacks.carried().call(
        [&] { result = callbacks.evaluate(t, NV::values(w), NV::values(rate)); });
    return result;
  }

  static int set_weights(N_Vector w, N_Vector /*weights*/, void* data) {
    return static_cast<Bdf*>(data)->callbacks_.set_weights(NV::values(w));
  }

  TimeOptions options_;
  double t_;
  V& w_;
  StepCallbacks<Space> callbacks_;
  SundialsHandle<SUNContext> context_;
  SundialsHandle<N_Vector> w_vector_;
  SundialsHandle<SUNNonlinearSolver> stage_solver_;
  std::unique_ptr<void, CvodeDeleter> memory_;
  double next_dt_ = 0.0;
  double begun_at_ = options_.start;  // where there were no values before
  long rejected_ = 0;
};

}  // namespace tessera
