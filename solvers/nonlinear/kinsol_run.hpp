// A KinsolRun is one solve of a non-linear system by KINSOL.
#pragma once

#include <kinsol/kinsol.h>
#include <kinsol/kinsol_ls.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

#include "solvers/nonlinear/kinsol_linear_solver.hpp"
#include "solvers/nonlinear/kinsol_operations.hpp"
#include "solvers/nonlinear/nonlinear_solver.hpp"
#include "solvers/sundials/solve_endings.hpp"

namespace tessera {

struct KinsolDeleter {
  void operator()(void* memory) const { KINFree(&memory); }
};

/// All endings but one are seen in callbacks, which then say to KINSOL that they failed, so that
/// u stays the last iterate.
template <class Space>
class KinsolRun final : private KinsolLinearSolver, private WeightedNorm<Space> {
 public:
  using V = Vector<double, Space>;
  using NV = SundialsVector<Space>;

  KinsolRun(NonlinearSystem<Space>& system, const NonlinearOptions& options, V& u)
      : system_(system),
        options_(options),
        layout_(system.layout()),
        context_(make_sundials_context()),
        u_(NV::wrap(u, layout_, *this, carried_, context_.get())) {
    add_kinsol_operations<Space>(*u_->ops);
    no_scale_.reset(N_VClone(u_.get()));
    memory_.reset(KINCreate(context_.get()));
    if (!no_scale_ || !memory_) throw std::bad_alloc();
    void* const memory = memory_.get();
    const bool is_newton = options.method == NonlinearMethod::newton;
    check(KINSetErrHandlerFn(memory, ignore_message, nullptr));
    check(KINSetUserData(memory, this));
    // The callbacks end the iteration before this.
    check(KINSetNumMaxIters(memory, static_cast<long>(options.max_iterations) + 2));
    if (!is_newton) {
      check(KINSetMAA(memory, std::min<std::int64_t>(options.acceleration, layout_.whole_size())));
    }
    check(KINInit(memory, is_newton ? evaluate_residual : evaluate_map, u_.get()));
    if (!is_newton) {
      r_ = V(layout_);
      if (options.acceleration > 0) image_ = V(layout_);
      // The residual ends the iteration, and not the length of a step.
      check(KINSetFuncNormTol(memory, kTiny));
      return;
    }
    before_ = V(layout_);
    linear_solver_ = make_kinsol_linear_solver(*this, context_.get());
    check(KINSetLinearSolver(memory, linear_solver_.get(), nullptr));
    // Without the second one KINSOL would not call the first.
    const auto never_called = [](N_Vector, N_Vector, N_Vector, N_Vector, N_Vector, void*) -> int {
      return kEnded;
    };
    check(KINSetPreconditioner(memory, begin_newton_iteration, never_called));
    check(KINSetMaxSetupCalls(memory, 1));
    check(KINSetEtaForm(memory, KIN_ETACHOICE2));
    check(KINSetEtaParams(memory, 0.9, 2.0));
    // A line search ends after a number of trials, however short the step is by then.
    check(KINSetScaledStepTol(memory, kTiny));
    check(KINSetMaxNewtonStep(memory, 1e100));
    check(KINSetMaxBetaFails(memory, std::numeric_limits<int>::max()));
  }

  NonlinearReport run() {
    const int strategy = options_.method == NonlinearMethod::picard ? KIN_FP
                         : options_.line_search == LineSearch::on   ? KIN_LINESEARCH
                                                                    : KIN_NONE;
    int flag = 0;
    do {
      if (std::exchange(is_lost_, false)) copy(image_, NV::values(u_.get()));
      is_new_ = true;
      flag = KINSol(memory_.get(), u_.get(), strategy, no_scale_.get(), no_scale_.get());
      carried_.rethrow();
    } while (is_lost_);
    if (!end_) {
      if (flag == KIN_MEM_FAIL || flag == KIN_VECTOROP_ERR) throw std::bad_alloc();
      if (flag == KIN_SUCCESS) finish_newton_iteration();
      end_of_search();
    }
    report_.status = *end_;
    report_.iterations = static_cast<int>(report_.history.size()) - 1;
    return std::move(report_);
  }

 private:
  // Halvings of a step are that many at most.
  static constexpr int kMaxTrials = 30;
  static constexpr double kPicardTolerance = 1e-3;
  static constexpr double kMaxResidualGrowth = 1e6;
  // From one iterate to the next; iterates that depend on each other are combined to anything.
  static constexpr double kMaxAcceleratedGrowth = 10.0;
  // In the place of 0, for which KINSOL has numbers of its own.
  static constexpr double kTiny = std::numeric_limits<double>::min();
  static constexpr int kDone = 0;
  static constexpr int kMayRetry = 1;
  static constexpr int kEnded = -1;

  static void check(int flag) {
    if (flag == KIN_MEM_FAIL) throw std::bad_alloc();
    if (flag < 0) throw std::logic_error("KINSOL refuses an option: " + std::to_string(flag));
  }
  static KinsolRun& of(void* data) { return *static_cast<KinsolRun*>(data); }

  // f() with its exceptions carried; returns what f does.
  template <class F>
  int callback(F&& f) {
    int result = kEnded;
    if (!carried_.waits() && !end_) carried_.call([&] { result = f(); });
    return result;
  }

  int end(NonlinearStatus status, std::string failure) {
    if (!end_) report_.failure = std::move(failure);
    if (!end_) end_ = status;
    return kEnded;
  }

  // Whether an iterate of this residual is worth going on from.
  bool is_near(double norm) const {
    return norm <= kMaxAcceleratedGrowth * report_.history.back() * report_.reference_norm;
  }

  bool is_small(double norm) const {
    return norm <= options_.relative_tolerance * report_.reference_norm;
  }

  // Takes ||F|| of the next iterate, and ends the solve where that says so.
  int take(double norm) {
    const bool is_first = report_.history.empty();
    if (is_first) {
      report_.reference_norm = options_.reference_norm > 0.0 ? options_.reference_norm : norm;
    }
    const double reference = report_.reference_norm;
    const double relative = reference > 0.0 ? norm / reference : 0.0;
    report_.history.push_back(relative);
    const int iterations = static_cast<int>(report_.history.size()) - 1;
    const bool is_to_stop =
        on_any_rank(layout_, !is_first && options_.observer &&
                                 options_.observer(iterations, relative) == Continue::no);
    if (!std::isfinite(norm)) {
      return end(NonlinearStatus::not_finite,
                 is_first
                     ? "the residual is not finite at the start"
                     : "the residual is not finite after iteration " + std::to_string(iterations));
    }
    if (is_small(norm)) return end(NonlinearStatus::converged, {});
    if (is_to_stop) return end(NonlinearStatus::interrupted, "the iteration was stopped");
    if (relative > kMaxResidualGrowth * report_.history.front()) {
      return end(NonlinearStatus::no_decrease, "the residual grows: it is " +
                                                   brief_number(relative) + " after iteration " +
                                                   std::to_string(iterations));
    }
    if (iterations >= options_.max_iterations) {
      return end(NonlinearStatus::iteration_limit,
                 "no solution after " + std::to_string(iterations) +
                     " iterations: the relative residual is " + brief_number(relative));
    }
    return kDone;
  }

  // x of J x = b or A x = b, to ||b - A x|| <= tolerance ||b||.
  int solve(double tolerance, const V& b, V& x) {
    fill(x, 0.0);
    const SolveReport report = system_.solve(tolerance, b, x);
    report_.linear_iterations.push_back(report.iterations);
    if (gives_direction(report)) {
      step_length_ = std::sqrt(dot(x, x));
      if (std::isfinite(step_length_)) return kDone;
      return end(NonlinearStatus::linear_solver_failed,
                 "in iteration " + std::to_string(report_.history.size()) +
                     " the solution of the linear solver is not finite");
    }
    if (report.status == SolveStatus::interrupted) {
      return end(NonlinearStatus::interrupted, "the iteration was stopped");
    }
    return end(NonlinearStatus::linear_solver_failed,
               "in iteration " + std::to_string(report_.history.size()) + " " +
                   failure_of_solver("the linear solver", report));
  }

  // F of a trial; the first one is the start.
  int residual_of_trial(const V& u, V& r) {
    system_.residual(u, r);
    const double norm = std::sqrt(dot(r, r));
    if (report_.history.empty()) {
      const int result = take(norm);
      check(KINSetFuncNormTol(
          memory_.get(), std::max(kTiny, options_.relative_tolerance * report_.reference_norm)));
      return result;
    }
    last_is_finite_ = std::isfinite(norm);
    if (++trials_ > kMaxTrials) return end_of_search();
    if (last_is_finite_) return kDone;
    // Without a line search there are no shorter steps.
    return options_.line_search == LineSearch::on ? kMayRetry : end_of_search();
  }

  int end_of_search() {
    const std::string where = " in iteration " + std::to_string(report_.history.size());
    if (last_is_finite_) {
      return end(NonlinearStatus::no_decrease, "no step makes the residual smaller" + where +
                                                   ", where it is " +
                                                   brief_number(report_.history.back()));
    }
    return end(NonlinearStatus::not_finite,
               "the residual is not finite, however short the step" + where);
  }

  static int evaluate_residual(N_Vector u, N_Vector r, void* data) {
    KinsolRun& self = of(data);
    return self.callback([&] { return self.residual_of_trial(NV::values(u), NV::values(r)); });
  }

  // u - A(u)^-1 F(u)
  static int evaluate_map(N_Vector u, N_Vector next, void* data) {
    KinsolRun& self = of(data);
    return self.callback([&]() -> int {
      const V& at = NV::values(u);
      V& image = NV::values(next);
      self.system_.residual(at, self.r_);
      const double norm = std::sqrt(dot(self.r_, self.r_));
      // Where Anderson's combination is too far away, or its iterates depend on each other, the
      // iteration goes on from the last image, and forgets what was before.
      if (!self.is_new_ && self.options_.acceleration > 0 && !self.is_near(norm)) {
        self.is_lost_ = true;
        return kEnded;
      }
      self.is_new_ = false;
      if (const int result = self.take(norm); result != kDone) return result;
      self.system_.linearize(at);
      if (const int result = self.solve(kPicardTolerance, self.r_, image); result != kDone) {
        return result;
      }
      aypx(at, -1.0, image);
      if (self.options_.acceleration > 0) copy(image, self.image_);
      return kDone;
    });
  }

  // What the iteration before has come to.
  int finish_newton_iteration() {
    if (step_length_ == 0.0) return kDone;
    double norm = 0.0;
    check(KINGetFuncNorm(memory_.get(), &norm));
    axpy(-1.0, NV::values(u_.get()), before_);
    const double taken = std::sqrt(dot(before_, before_));
    report_.damping.push_back(std::min(1.0, taken / std::exchange(step_length_, 0.0)));
    return take(norm);
  }

  static int begin_newton_iteration(N_Vector u, N_Vector, N_Vector, N_Vector, void* data) {
    KinsolRun& self = of(data);
    return self.callback([&] {
      if (const int result = self.finish_newton_iteration(); result != kDone) return result;
      self.trials_ = 0;
      copy(NV::values(u), self.before_);
      self.system_.linearize(NV::values(u));
      return kDone;
    });
  }

  int solve_linear(double tolerance, N_Vector b, N_Vector x) override {
    return callback([&] {
      const V& rhs = NV::values(b);
      return solve(tolerance / std::sqrt(dot(rhs, rhs)), rhs, NV::values(x));
    });
  }

  double weighted_norm(const V&) override { check_failed("weighted norm", __FILE__, __LINE__); }

  NonlinearSystem<Space>& system_;
  const NonlinearOptions& options_;
  VectorLayout layout_;
  NonlinearReport report_;
  std::optional<NonlinearStatus> end_;
  CarriedException carried_;
  SundialsHandle<SUNContext> context_;
  SundialsHandle<N_Vector> u_;
  SundialsHandle<N_Vector> no_scale_;
  SundialsHandle<SUNLinearSolver> linear_solver_;
  std::unique_ptr<void, KinsolDeleter> memory_;
  V before_;                  // of newton: u before the iteration under way
  V r_;                       // of picard: F(u)
  V image_;                   // of picard: the last u - A(u)^-1 F(u)
  bool is_new_ = true;        // KINSOL begins
  bool is_lost_ = false;      // KINSOL has to begin again from the last image
  double step_length_ = 0.0;  // of the full step of the iteration under way; 0 before the first
  int trials_ = 0;
  bool last_is_finite_ = true;
};

}  // namespace tessera
