// What SUNDIALS asks of a TimeSystem while it makes steps, and what is to be told of it afterwards.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <optional>
#include <string>
#include <utility>

#include "solvers/interruption.hpp"
#include "solvers/solver.hpp"
#include "solvers/time/carried_exception.hpp"
#include "solvers/time/sundials_vector.hpp"
#include "solvers/time/time_system.hpp"

namespace tessera {

/// A number in a message.
inline std::string number_text(double value) {
  char text[32];
  std::snprintf(text, sizeof(text), "%.6g", value);
  return text;
}

/// What a callback returns to SUNDIALS, whose numbers for it are all like these.
inline constexpr int kCallbackDone = 0;
inline constexpr int kCallbackMayRetry = 1;
inline constexpr int kCallbackFailed = -1;

/// SUNDIALS sees w' = F(t, w) with F = M^-1 f, so that it needs to solve with M only for values of
/// F, which few stages have: those of implicit methods follow from their solutions. The equation of
/// a stage is multiplied by M:
///
///     x = h + gamma F(t, w + x)   is   (M + gamma A) x = M h + gamma f(t, w).
template <class Space>
class StepCallbacks final : public WeightedNorm<Space> {
 public:
  using V = Vector<double, Space>;

  /// @param tolerance without it there are no weights, and all norms are 0
  StepCallbacks(TimeSystem<Space>& system, std::optional<double> tolerance)
      : system_(system), tolerance_(tolerance) {}

  /// F = M^-1 f(t, w)
  int evaluate(double t, const V& w, V& F) {
    int result = kCallbackFailed;
    if (carried_.waits()) return result;
    carried_.call([&] {
      if (scratch_.size() == 0) scratch_ = V(system_.size());
      system_.evaluate(t, w, scratch_);
      result = solve("the solver of the mass matrix", scratch_, F,
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
      system_.evaluate(t, w, b);
      if (history == nullptr) {
        scale(gamma, b);
      } else {
        system_.apply_mass(*history, scratch);
        const double factors[] = {gamma, factor};
        const V* const vectors[] = {&b, &scratch};
        combine<double>(factors, vectors, b);
      }
      result = solve("the linear solver", b, x, [&] { return system_.solve_step(t, gamma, b, x); });
    });
    return result;
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
    scale_ = *tolerance_ * std::max(1.0, norm);
    weighted_ = &w;
    norm_of_weighted_ = norm;
    return kCallbackDone;
  }

  double weighted_norm(const V& x) override {
    if (!tolerance_) return 0.0;
    // SUNDIALS compares w with its tolerance, right after it has asked for the weights.
    if (const V* known = std::exchange(weighted_, nullptr); known == &x) {
      return norm_of_weighted_ / scale_;
    }
    double norm = kTooLarge;
    carried_.call([&] { norm = system_.error_norm(x); });
    last_norm_ = norm;
    // A step with an error that is not a number is one with an error that is too large.
    if (!std::isfinite(norm)) failure_ = "the solution is not finite";
    return std::isfinite(norm) ? std::min(norm / scale_, kTooLarge) : kTooLarge;
  }

  /// The error that is within the tolerance: tolerance * max(1, ||w||).
  double scale() const { return scale_; }
  /// The last norm that was computed, without weights.
  double last_norm() const { return last_norm_; }
  CarriedException& carried() { return carried_; }
  void set_failure(std::string failure) { failure_ = std::move(failure); }
  /// What went wrong since the last call, in a user's words; empty if nothing did.
  std::string take_failure() { return std::exchange(failure_, {}); }
  /// The iterations of all solves since the last call.
  int take_iterations() { return std::exchange(iterations_, 0); }
  TimeSystem<Space>& system() { return system_; }

 private:
  static constexpr double kTooLarge = 1e10;

  static void scale(double factor, V& x) {
    const V* const vector = &x;
    combine<double>({&factor, 1}, {&vector, 1}, x);
  }

  template <class Solve>
  int solve(const char* solver, const V& b, V& x, Solve solve_from) {
    fill(x, 0.0);
    const double square = dot(b, b);
    if (square == 0.0) return kCallbackDone;
    if (!std::isfinite(square)) {
      failure_ = "the right-hand side of the equations is not finite";
      return kCallbackMayRetry;
    }
    const SolveReport report = solve_from();
    iterations_ += report.iterations;
    if (report.status == SolveStatus::interrupted) throw Interrupted();
    if (report.status == SolveStatus::converged) return kCallbackDone;
    failure_ = std::string(solver) +
               " did not converge: " + std::string(status_name(report.status)) + " at iteration " +
               std::to_string(report.iterations) + ", with a relative residual of " +
               number_text(report.true_relative_residual);
    return kCallbackMayRetry;
  }

  TimeSystem<Space>& system_;
  std::optional<double> tolerance_;
  CarriedException carried_;
  V scratch_;
  double scale_ = 1.0;
  const V* weighted_ = nullptr;
  double norm_of_weighted_ = 0.0;
  double last_norm_ = std::numeric_limits<double>::quiet_NaN();
  int iterations_ = 0;
  std::string failure_;
};

}  // namespace tessera
