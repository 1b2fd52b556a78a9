// This file prints lines of progress when they are due.
#include "postprocess/files/progress_line.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <ostream>

namespace tessera {
namespace {

constexpr double kLiveInterval = 0.1;
constexpr double kFirstPlainInterval = 2.0;
constexpr double kLongestPlainInterval = 30.0;
constexpr const char* kClearLine = "\r\x1b[K";

int terminal_width() {
  constexpr int kUsual = 80;
  for (const int descriptor : {STDERR_FILENO, STDOUT_FILENO}) {
    winsize size{};
    if (ioctl(descriptor, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
  }
  return kUsual;
}

}  // namespace

ProgressMode progress_mode(std::FILE* stream) {
  const char* terminal = std::getenv("TERM");
  const bool rewrites = terminal != nullptr && std::strcmp(terminal, "dumb") != 0;
  return isatty(fileno(stream)) != 0 && rewrites ? ProgressMode::live : ProgressMode::plain;
}

ProgressLine::ProgressLine(std::ostream& out, ProgressMode mode, int width,
                           const ProgressClock& clock)
    : out_(out),
      mode_(mode),
      width_(width),
      due_(clock()),
      interval_(mode == ProgressMode::live ? kLiveInterval : kFirstPlainInterval) {}

ProgressLine::~ProgressLine() { finish(); }

void ProgressLine::show(const std::string& text, double now) {
  due_ = now + interval_;
  if (mode_ == ProgressMode::live) {
    const int width = width_ > 0 ? width_ : terminal_width();
    // A full line would wrap on some terminals.
    out_ << kClearLine << text.substr(0, static_cast<std::size_t>(std::max(width - 1, 1)));
    line_open_ = true;
  } else {
    out_ << text << '\n';
    interval_ = std::min(2.0 * interval_, kLongestPlainInterval);
  }
  out_.flush();
}

void ProgressLine::finish() {
  if (line_open_) out_ << kClearLine << std::flush;
  line_open_ = false;
  mode_ = ProgressMode::silent;
}

}  // namespace tessera
