// What SUNDIALS asks of a TimeSystem while it makes steps, and what is to be told of it afterwards.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <utility>

#include "solvers/interruption.hpp"
#include "solvers/solver.hpp"
#include "solvers/sundials/carried_exception.hpp"
#include "solvers/sundials/solve_endings.hpp"
#include "solvers/sundials/sundials_vector.hpp"
#include "solvers/time/time_integrator.hpp"
#include "solvers/time/time_system.hpp"

namespace tessera {

/// What a callback returns to SUNDIALS, whose numbers for it are all like these.
inline constexpr int kCallbackDone = 0;
inline constexpr int kCallbackMayRetry = 1;
inline constexpr int kCallbackFailed = -1;

/// SUNDIALS sees w' = F(t, w) with F = M^-1 f, so that it needs to solve with M only for values of
/// F, which few stages have: those of implicit methods follow from their solutions. The equation of
/// a stage is multiplied by M:
///
///     x = h + gamma F(t, w + x)   is   (M / gamma + A) x = M h / gamma + f(t, w)
///
/// where f is affine. Otherwise Newton's iteration from x = 0 solves M (h - x) + gamma f(t, w + x)
/// = 0, whose residual of w has no solves with M either.
template <class Space>
class StepCallbacks final : public WeightedNorm<Space> {
 public:
  using V = Vector<double, Space>;

  /// Of fixed steps there are no weights, and all norms are 0.
  StepCallbacks(TimeSystem<Space>& system, const TimeOptions& options)
      : system_(system),
        tolerance_(options.step ? std::nullopt : std::optional(options.tolerance)),
        absolute_tolerance_(options.absolute_tolerance.value_or(options.tolerance)),
        nonlinear_tolerance_(options.nonlinear_tolerance),
        max_nonlinear_iterations_(options.max_nonlinear_iterations) {}

  /// F = M^-1 f(t, w)
  int evaluate(double t, const V& w, V& F) {
    int result = kCallbackFailed;
    if (carried_.waits()) return result;
    carried_.call([&] {
      if (scratch_.size() == 0) scratch_ = V(system_.layout());
      system_.evaluate(t, w, scratch_);
      result = solve("the solver of the mass matrix", dot(scratch_, scratch_), F,
                     [&] { return system_.solve_mass(scratch_, F); });
    });
    return result;
  }

  /// x of the stage, with factor * history for h.
  /// @param history null for h = 0
  /// @param b, scratch are overwritten
  int solve_stage(double t, double gamma, const V& w, double factor, const V* history, V& b,
                  V& scratch, V& x) {
    int result = kCallbackFailed;
    if (carried_.waits()) return result;
    carried_.call([&] {
      if (!system_.is_linear()) {
        result = solve_nonlinear_stage(t, gamma, w, factor, history, b, scratch, x);
        return;
      }
      double square = 0.0;
      if (history == nullptr) {
        square = system_.evaluate_and_square(t, w, b);
      } else {
        system_.evaluate(t, w, b);
        system_.apply_mass(*history, scratch);
        axpy(factor / gamma, scratch, b);
        square = dot(b, b);
      }
      result = solve_shifted(t, gamma, b, square, x);
    });
    return result;
  }

  /// x of (M / gamma + A) x = b at time t. Exceptions are not kept.
  /// @param square b.b
  int solve_shifted(double t, double gamma, const V& b, double square, V& x) {
    return solve("the linear solver", square, x,
                 [&] { return system_.solve_shifted(t, gamma, b, std::sqrt(square), x); });
  }

  /// Takes ||w|| for the weights of the step that begins at w.
  int set_weights(const V& w) {
    if (!tolerance_) return kCallbackDone;
    double norm = 0.0;
    if (!carried_.call([&] { norm = system_.error_norm(w); })) return kCallbackFailed;
    if (!std::isfinite(norm)) {
      failure_ = "the solution is not finite";
      return kCallbackFailed;
    }
    scale_ = std::max(absolute_tolerance_, *tolerance_ * norm);
    weighted_ = &w;
    size_ = norm;
    return kCallbackDone;
  }

  double weighted_norm(const V& x) override {
    if (!tolerance_) return 0.0;
    // SUNDIALS compares w with its tolerance, right after it has asked for the weights.
    if (const V* known = std::exchange(weighted_, nullptr); known == &x) {
      return size_ / scale_;
    }
    double norm = kTooLarge;
    carried_.call([&] { norm = system_.error_norm(x); });
    last_norm_ = norm;
    // A step with an error that is not a number is one with an error that is too large.
    if (!std::isfinite(norm)) failure_ = "the solution is not finite";
    return std::isfinite(norm) ? std::min(norm / scale_, kTooLarge) : kTooLarge;
  }

  /// The error that is within the tolerances: max(absolute_tolerance, tolerance * ||w||).
  double scale() const { return scale_; }
  /// ||w|| of the last weights.
  double size() const { return size_; }
  /// The last norm that was computed, without weights.
  double last_norm() const { return last_norm_; }
  CarriedException& carried() { return carried_; }
  void set_failure(std::string failure) { failure_ = std::move(failure); }
  /// What went wrong since the last call, in a user's words; empty if nothing did.
  std::string take_failure() { return std::exchange(failure_, {}); }
  /// The iterations of all solves since the last call.
  int take_iterations() { return std::exchange(iterations_, 0); }
  int take_nonlinear_iterations() { return std::exchange(nonlinear_iterations_, 0); }
  TimeSystem<Space>& system() { return system_; }

 private:
  static constexpr double kTooLarge = 1e10;
  // Of the tolerance of a step, for a stage.
  static constexpr double kShareOfStage = 0.01;
  // Of linear solves in Newton's iteration: an iteration leaves no more than this of the error.
  static constexpr double kLinearTolerance = 1e-3;
  // Corrections that grow by this are those of an iteration that diverges.
  static constexpr double kDivergence = 2.0;

  static void scale(double factor, V& x) {
    const V* const vector = &x;
    combine<double>({&factor, 1}, {&vector, 1}, x);
  }

  int solve_nonlinear_stage(double t, double gamma, const V& w, double factor, const V* history,
                            V& b, V& scratch, V& x) {
    if (correction_.size() == 0) correction_ = V(system_.layout());
    V& correction = correction_;
    const auto sum = [](double c, const V& u, double d, const V& v, V& y) {
      const double factors[] = {c, d};
      const V* const vectors[] = {&u, &v};
      combine<double>(factors, vectors, y);
    };
    const double size = tolerance_ ? 0.0 : system_.error_norm(w);
    const auto target = [&] {
      if (tolerance_) return kShareOfStage * scale_;
      sum(1.0, w, 1.0, x, scratch);
      return nonlinear_tolerance_ * std::max(size, system_.error_norm(scratch));
    };
    fill(x, 0.0);
    double previous = 0.0;
    for (int k = 0; k < max_nonlinear_iterations_; ++k) {
      sum(1.0, w, 1.0, x, scratch);
      system_.linearize(t, gamma, scratch);
      system_.evaluate(t, scratch, b);
      if (history != nullptr) {
        sum(factor, *history, -1.0, x, scratch);
      } else {
        copy(x, scratch);
        scale(-1.0, scratch);
      }
      system_.apply_mass(scratch, correction);
      sum(gamma, b, 1.0, correction, b);
      ++nonlinear_iterations_;
      const int result = solve("the linear solver of a stage", dot(b, b), correction, [&] {
        fill(correction, 0.0);
        return system_.solve_linearized(kLinearTolerance, b, correction);
      });
      if (result != kCallbackDone) return result;
      axpy(1.0, correction, x);
      const double norm = system_.error_norm(correction);
      if (!std::isfinite(norm)) {
        failure_ = "the solution is not finite";
        return kCallbackMayRetry;
      }
      // What is left, if corrections go on to fall as they did.
      const double rate = k == 0 ? 1.0 : norm / previous;
      if (norm * std::min(1.0, rate) <= target()) return kCallbackDone;
      if (rate > kDivergence) {
        failure_ = "the iteration for a stage diverges";
        return kCallbackMayRetry;
      }
      previous = norm;
    }
    failure_ = "the iteration for a stage has not converged in " +
               std::to_string(max_nonlinear_iterations_) + " iterations";
    return kCallbackMayRetry;
  }

  // @param square of the right-hand side
  template <class Solve>
  int solve(const char* solver, double square, V& x, Solve solve_from) {
    if (square == 0.0) {
      fill(x, 0.0);
      return kCallbackDone;
    }
    if (!std::isfinite(square)) {
      failure_ = "the right-hand side of the equations is not finite";
      return kCallbackMayRetry;
    }
    const SolveReport report = solve_from();
    iterations_ += report.iterations;
    if (report.status == SolveStatus::interrupted) throw Interrupted();
    if (report.status == SolveStatus::converged) return kCallbackDone;
    if (!system_.is_linear() && gives_direction(report)) return kCallbackDone;
    failure_ = failure_of_solver(solver, report);
    return kCallbackMayRetry;
  }

  TimeSystem<Space>& system_;
  std::optional<double> tolerance_;
  double absolute_tolerance_;
  double nonlinear_tolerance_;
  int max_nonlinear_iterations_;
  CarriedException carried_;
  V scratch_;
  V correction_;  // of Newton's iteration
  double scale_ = 1.0;
  const V* weighted_ = nullptr;
  double size_ = 0.0;
  double last_norm_ = std::numeric_limits<double>::quiet_NaN();
  int iterations_ = 0;
  int nonlinear_iterations_ = 0;
  std::string failure_;
};

}  // namespace tessera
