// Progress shows how an iterative solve gets on.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <string>
#include <vector>

#include "postprocess/files/progress_line.hpp"

namespace tessera {

/// Shows how an iterative solve gets on: iteration, relative residual and its target, iterations
/// per second, and the time left, predicted from the slope of the residual over the last
/// iterations.
class Progress {
 public:
  struct Options {
    std::string label = "solve";
    double target = 0.0;              // relative residual
    std::int64_t max_iterations = 0;  // 0: no limit
    int width = 0;                    // as of a ProgressLine
  };

  Progress(std::ostream& out, ProgressMode mode, Options options,
           ProgressClock clock = seconds_now);

  /// Call this after each iteration; it costs one reading of the clock if nothing is due.
  void update(std::int64_t iteration, double relative_residual);
  /// Clears a live line; later updates are ignored.
  void finish() { line_.finish(); }

 private:
  struct Sample {
    std::int64_t iteration;
    double time;
    double residual;
  };

  // Oldest sample first.
  const Sample& sample(std::size_t i) const {
    return samples_[(next_sample_ + i) % samples_.size()];
  }
  void remember(const Sample& sample);
  double iterations_per_second() const;
  double seconds_left(double rate) const;
  std::string text() const;

  Options options_;
  ProgressClock clock_;
  ProgressLine line_;
  std::vector<Sample> samples_;
  std::size_t next_sample_ = 0;
};

}  // namespace tessera
