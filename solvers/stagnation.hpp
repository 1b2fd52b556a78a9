#pragma once

#include <limits>

namespace tessera {

/// How much larger than the tolerance the residual computed anew may be where the recurrence's has
/// converged, and how often the iteration may start again from it.
inline constexpr double kTrueResidualSlack = 1.1;
inline constexpr int kMostRestarts = 3;

/// Watches an iteration for standing still.
///
/// A solve is stagnated when for a window of iterations the residual has not fallen below a share
/// of its best, and the iteration has gained next to nothing in the energy norm of the error either
/// or the residual has run away. The residual alone does not tell: CG's may stand still for as many
/// iterations as it takes information to cross the mesh.
class StagnationMonitor {
 public:
  /// After an iteration.
  /// @param energy by which the iteration lowered the squared energy norm of the error: alpha r.z
  bool stagnates(int iteration, double residual, double energy) {
    gain_ += energy;
    if (residual < kResidualGain * best_) {
      best_ = residual;
      begin_window(iteration);
    }
    if (iteration - start_ < kStagnationWindow) return false;
    if (residual > kHarmlessRise * best_ || gain_ - gain_at_start_ < kEnergyGain * gain_) {
      return true;
    }
    begin_window(iteration);
    return false;
  }

 private:
  static constexpr int kStagnationWindow = 500;
  static constexpr double kResidualGain = 0.99;
  static constexpr double kEnergyGain = 1e-4;
  static constexpr double kHarmlessRise = 1e3;

  void begin_window(int iteration) {
    start_ = iteration;
    gain_at_start_ = gain_;
  }

  double best_ = std::numeric_limits<double>::infinity();
  int start_ = 0;
  double gain_ = 0.0;
  double gain_at_start_ = 0.0;
};

}  // namespace tessera
