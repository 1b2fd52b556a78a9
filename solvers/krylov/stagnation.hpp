// These rules decide when an iteration restarts, and when it has stagnated.
#pragma once

#include <algorithm>
#include <limits>

#include "solvers/solver.hpp"

namespace tessera {

/// The recurrence's residual may have reached the tolerance while the residual computed anew has
/// not. Up to kTrueResidualSlack times the tolerance the two differ by rounding, and the iteration
/// goes on from the new residual to a tightened target (on the GPU it starts again from it). Beyond
/// that the recurrences are spoilt, and the iteration starts again. This may happen kMaxRestarts
/// times.
inline constexpr double kTrueResidualSlack = 1.1;
inline constexpr int kMaxRestarts = 3;

/// The target that the recurrence's residual has to reach next, when it has reached `target` but
/// the residual computed anew is `true_residual` > tolerance: the target times tolerance /
/// true_residual, and a little less.
inline double tightened_target(double target, double tolerance, double true_residual) {
  constexpr double kLittle = 0.95;
  return kLittle * target * std::min(1.0, tolerance / true_residual);
}

/// The largest rise of the residual above its least value that a positive definite matrix allows:
/// sqrt(condition), with the largest condition in double precision. Beyond it, rounding has the
/// solution.
inline constexpr double kLargestRise = 1e8;

/// Where a solve has ended beyond the largest rise, the iteration of the least residual, else 0.
/// This happens to singular matrices: when only rounding is left of the residual, in the null
/// space, the next step goes there and has no bound.
inline int iteration_before_spoilt(const SolveReport& report) {
  if (report.status == SolveStatus::converged || report.status == SolveStatus::interrupted) {
    return 0;
  }
  const auto least = std::min_element(report.history.begin(), report.history.end());
  if (report.true_relative_residual <= kLargestRise * *least) return 0;
  return static_cast<int>(least - report.history.begin());
}

/// Watches an iteration for standing still.
///
/// The residual alone does not tell: with a coefficient that jumps by 1e8, the residual of
/// conjugate gradients may rise to sqrt(condition) times its best value, and stay above its first,
/// until the solution is nearly found. What falls in every iteration is the energy norm of the
/// error, and the gains in its square are known: alpha r.z. A solve has stagnated when for a window
/// of iterations the residual has not fallen below a share of its best, and one of these is true:
///   - the gains are next to nothing beside the sum of all gains, and they do not fall from the
///     window's first half to its second, as they do while the error falls;
///   - the residual is larger than any positive definite matrix of this precision can make it.
/// A window is at least a third of all iterations, so that waiting for its end never costs much
/// more than was spent before.
class StagnationMonitor {
 public:
  /// Tells after an iteration whether the solve has stagnated.
  /// @param energy the amount by which the iteration lowered the squared energy norm of the error:
  ///         alpha r.z
  bool stagnates(int iteration, double residual, double energy) {
    gain_ += energy;
    if (residual < kResidualGain * best_) {
      best_ = residual;
      begin_window(iteration);
      return false;
    }
    // The halves have sums of their own, because late gains round away in differences of gain_.
    (iteration <= half_ ? first_gain_ : second_gain_) += energy;
    if (iteration < end_) return false;
    const bool gains_little = first_gain_ + second_gain_ < kEnergyGain * gain_;
    const bool gains_fall = second_gain_ < kFall * first_gain_;
    if (residual > kLargestRise * best_ || (gains_little && !gains_fall)) return true;
    begin_window(iteration);
    return false;
  }

 private:
  static constexpr int kMinWindow = 500;
  static constexpr double kResidualGain = 0.99;
  static constexpr double kEnergyGain = 1e-4;
  static constexpr double kFall = 0.5;

  void begin_window(int iteration) {
    const int length = std::max(kMinWindow, iteration / 2);
    half_ = iteration + length / 2;
    end_ = iteration + length;
    first_gain_ = second_gain_ = 0.0;
  }

  double best_ = std::numeric_limits<double>::infinity();
  int half_ = kMinWindow / 2;
  int end_ = kMinWindow;
  double gain_ = 0.0;
  double first_gain_ = 0.0;  // of the window's halves
  double second_gain_ = 0.0;
};

}  // namespace tessera
