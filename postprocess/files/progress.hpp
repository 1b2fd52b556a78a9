// Progress shows how an iterative solve gets on.
#pragma once

#include <cstdint>
#include <cstdio>
#include <functional>
#include <iosfwd>
#include <string>
#include <vector>

#include "postprocess/timing/clock.hpp"

namespace tessera {

/// How progress is shown: one line rewritten in place, some lines in a log, or not at all.
enum class ProgressMode { live, plain, silent };

/// Live where the stream is a terminal that can rewrite a line, else plain.
ProgressMode progress_mode(std::FILE* stream);

/// Shows how an iterative solve gets on: iteration, relative residual and its target, iterations
/// per second, and the time left, predicted from the slope of the residual over the last
/// iterations.
///
/// A live line is rewritten at most 10 times a second and cleared at the end, so that whatever is
/// printed next starts on an empty line. Plain lines are printed at once and then after 2, 4, 8,
/// 16, 30, 30, ... seconds.
class Progress {
 public:
  struct Options {
    std::string label = "solve";
    double target = 0.0;              // relative residual
    std::int64_t max_iterations = 0;  // 0: no limit
    int width = 0;                    // characters a live line may have; 0: as the terminal says
  };
  /// Seconds since any fixed moment.
  using Clock = std::function<double()>;

  Progress(std::ostream& out, ProgressMode mode, Options options, Clock clock = seconds_now);
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  ~Progress();

  /// Call this after each iteration; it costs one reading of the clock if nothing is due.
  void update(std::int64_t iteration, double relative_residual);
  /// Clears a live line; later updates are ignored.
  void finish();

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
  std::string line() const;

  std::ostream& out_;
  ProgressMode mode_;
  Options options_;
  Clock clock_;
  std::vector<Sample> samples_;
  std::size_t next_sample_ = 0;
  double due_;
  double interval_;
  bool line_open_ = false;
};

}  // namespace tessera
