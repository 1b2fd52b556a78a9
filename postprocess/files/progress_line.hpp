// A ProgressLine shows a text now and then.
#pragma once

#include <cstdio>
#include <functional>
#include <iosfwd>
#include <string>

#include "postprocess/timing/clock.hpp"

namespace tessera {

/// How progress is shown: one line rewritten in place, some lines in a log, or not at all.
enum class ProgressMode { live, plain, silent };

/// Live where the stream is a terminal that can rewrite a line, else plain.
ProgressMode progress_mode(std::FILE* stream);

/// Seconds since any fixed moment.
using ProgressClock = std::function<double()>;

/// Shows a text now and then. A live line is rewritten at most 10 times a second and cleared at the
/// end, so that whatever is printed next starts on an empty line. Plain lines are printed at once
/// and then after 2, 4, 8, 16, 30, 30, ... seconds.
class ProgressLine {
 public:
  /// @param width characters a live line may have; 0: as the terminal says
  ProgressLine(std::ostream& out, ProgressMode mode, int width, const ProgressClock& clock);
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;
  ~ProgressLine();

  bool is_silent() const { return mode_ == ProgressMode::silent; }
  bool is_due(double now) const { return !is_silent() && now >= due_; }
  /// Shows the text, which is ASCII. @param now the time by the clock
  void show(const std::string& text, double now);
  /// Clears a live line; it is silent from then on.
  void finish();

 private:
  std::ostream& out_;
  ProgressMode mode_;
  int width_;
  double due_;
  double interval_;
  bool line_open_ = false;
};

}  // namespace tessera
