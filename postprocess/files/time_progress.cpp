// This file predicts when a run in time ends.
#include "postprocess/files/time_progress.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "postprocess/files/human_units.hpp"

namespace tessera {
namespace {

// The first steps of adaptive ones are much shorter than the others.
constexpr std::size_t kWindow = 100;
// Less of the interval foretells nothing.
constexpr double kMinShare = 1e-3;

}  // namespace

TimeProgress::TimeProgress(std::ostream& out, ProgressMode mode, Options options,
                           ProgressClock clock)
    : options_(options),
      clock_(std::move(clock)),
      line_(out, mode, options.width, clock_),
      samples_{{options.start, clock_()}} {}

void TimeProgress::update(double t, Index step, Index iterations) {
  if (line_.is_silent()) return;
  const double now = clock_();
  samples_.push_back({t, now});
  if (samples_.size() > kWindow + 1) samples_.pop_front();
  if (line_.is_due(now)) line_.show(text(step, iterations), now);
}

// NaN if the last steps foretell no end.
double TimeProgress::seconds_left() const {
  const Sample& first = samples_.front();
  const Sample& last = samples_.back();
  const bool foretells = last.t > first.t && last.time > first.time;
  if (!foretells) return std::nan("");
  return std::max(0.0, options_.end - last.t) / (last.t - first.t) * (last.time - first.time);
}

std::string TimeProgress::text(Index step, Index iterations) const {
  const double t = samples_.back().t;
  const double share = (t - options_.start) / (options_.end - options_.start);
  std::string text =
      fmt::format("time: t = {:.6g} of {:g}, step {}, {} iteration{}, {}", t, options_.end, step,
                  iterations, iterations == 1 ? "" : "s", human_percent(share));
  const double left = seconds_left();
  return std::isfinite(left) && share > kMinShare ? text + ", ETA " + human_seconds(left) : text;
}

}  // namespace tessera
