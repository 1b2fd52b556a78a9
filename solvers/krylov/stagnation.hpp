// These rules decide when an iteration restarts, and when it has stagnated.
#pragma once

#include <algorithm>
#include <limits>

namespace tessera {

/// Where the recurrence's residual has reached the tolerance and the residual computed anew has
/// not: up to this multiple of the tolerance they differ by rounding, and the iteration goes on
/// with the new one (on the GPU it starts again from it) to a tightened target; beyond it the
/// recurrences are spoilt, and it starts again. And how often that may happen.
inline constexpr double kTrueResidualSlack = 1.1;
inline constexpr int kMaxRestarts = 3;

/// What the recurrence's residual has to reach next, where it has reached `target` and the residual
/// computed anew is `true_residual` > tolerance: as much less as it was too small, and a little.
inline double tightened_target(double target, double tolerance, double true_residual) {
  constexpr double kLittle = 0.95;
  return kLittle * target * std::min(1.0, tolerance / true_residual);
}

/// Watches an iteration for standing still.
///
/// The residual does not tell: with a coefficient that jumps by 1e8, that of conjugate gradients
/// may rise to sqrt(condition) times its best, and stay above its first, until the solution is all
/// but found. What falls in every iteration is the energy norm of the error, and the gains in its
/// square are known: alpha r.z. A solve is stagnated when for a window of iterations the residual
/// has not fallen below a share of its best, and
///   - the gains are next to nothing beside all gains and do not fall from the window's first half
///     to its second, as they do while the error falls; or
///   - the residual is larger than any positive definite matrix of this precision can make it.
/// Windows are at least a third of all iterations, so that what is lost by waiting for their ends
/// is never much more than was spent before.
class StagnationMonitor {
 public:
  /// After an iteration.
  /// @param energy by which the iteration lowered the squared energy norm of the error: alpha r.z
  bool stagnates(int iteration, double residual, double energy) {
    gain_ += energy;
    if (residual < kResidualGain * best_) {
      best_ = residual;
      begin_window(iteration);
      return false;
    }
    // Not differences of gain_, in which late gains round away.
    (iteration <= half_ ? first_gain_ : second_gain_) += energy;
    if (iteration < end_) return false;
    const bool gains_little = first_gain_ + second_gain_ < kEnergyGain * gain_;
    const bool gains_fall = second_gain_ < kFall * first_gain_;
    if (residual > kLargestRise * best_ || (gains_little && !gains_fall)) return true;
    begin_window(iteration);
    return false;
  }

 private:
  static constexpr int kLeastWindow = 500;
  static constexpr double kResidualGain = 0.99;
  static constexpr double kEnergyGain = 1e-4;
  static constexpr double kFall = 0.5;
  // sqrt(1 / epsilon) in double precision.
  static constexpr double kLargestRise = 1e8;

  void begin_window(int iteration) {
    const int length = std::max(kLeastWindow, iteration / 2);
    half_ = iteration + length / 2;
    end_ = iteration + length;
    first_gain_ = second_gain_ = 0.0;
  }

  double best_ = std::numeric_limits<double>::infinity();
  int half_ = kLeastWindow / 2;
  int end_ = kLeastWindow;
  double gain_ = 0.0;
  double first_gain_ = 0.0;  // of the window's halves
  double second_gain_ = 0.0;
};

}  // namespace tessera
