// TimeProgress shows how a run in time gets on.
#pragma once

#include <deque>
#include <iosfwd>
#include <string>

#include "mesh/index.hpp"
#include "postprocess/files/progress_line.hpp"

namespace tessera {

/// Shows how a run in time gets on: t, step, iterations of its linear solver, the share of the
/// interval that is done, and the time left, predicted from that share over the last steps.
class TimeProgress {
 public:
  struct Options {
    double start = 0.0;
    double end = 1.0;
    int width = 0;  // as of a ProgressLine
  };

  TimeProgress(std::ostream& out, ProgressMode mode, Options options,
               ProgressClock clock = seconds_now);

  /// Call this after each step. @param iterations of the step
  void update(double t, Index step, Index iterations);
  /// Clears a live line; later updates are ignored.
  void finish() { line_.finish(); }

 private:
  struct Sample {
    double t;
    double time;
  };

  double seconds_left() const;
  std::string text(Index step, Index iterations) const;

  Options options_;
  ProgressClock clock_;
  ProgressLine line_;
  std::deque<Sample> samples_;  // oldest first
};

}  // namespace tessera
