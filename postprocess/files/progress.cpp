// This file prints progress and predicts the time left.
#include "postprocess/files/progress.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "postprocess/files/human_units.hpp"

namespace tessera {
namespace {

// CG's residual is ragged: the slope over fewer iterations jumps about.
constexpr std::size_t kWindow = 100;
constexpr std::size_t kMinSamples = 5;

}  // namespace

Progress::Progress(std::ostream& out, ProgressMode mode, Options options, ProgressClock clock)
    : options_(std::move(options)),
      clock_(std::move(clock)),
      line_(out, mode, options_.width, clock_) {}

void Progress::update(std::int64_t iteration, double relative_residual) {
  if (line_.is_silent()) return;
  const double now = clock_();
  remember({iteration, now, relative_residual});
  if (line_.is_due(now)) line_.show(text(), now);
}

void Progress::remember(const Sample& sample) {
  if (samples_.size() < kWindow) {
    samples_.push_back(sample);
    return;
  }
  samples_[next_sample_] = sample;
  next_sample_ = (next_sample_ + 1) % kWindow;
}

double Progress::iterations_per_second() const {
  const Sample& first = sample(0);
  const Sample& last = sample(samples_.size() - 1);
  return last.time > first.time
             ? double(last.iteration - first.iteration) / (last.time - first.time)
             : 0.0;
}

// Fits log(residual) over the iterations of the window by least squares; NaN if that predicts no
// end.
double Progress::seconds_left(double rate) const {
  double n = 0.0;
  double mean_iteration = 0.0;
  double mean_log = 0.0;
  const auto usable = [](const Sample& s) { return std::isfinite(s.residual) && s.residual > 0.0; };
  for (const Sample& s : samples_) {
    if (!usable(s)) continue;
    n += 1.0;
    mean_iteration += (double(s.iteration) - mean_iteration) / n;
    mean_log += (std::log(s.residual) - mean_log) / n;
  }
  double covariance = 0.0;
  double variance = 0.0;
  for (const Sample& s : samples_) {
    if (!usable(s)) continue;
    const double distance = double(s.iteration) - mean_iteration;
    covariance += distance * (std::log(s.residual) - mean_log);
    variance += distance * distance;
  }
  const double slope = covariance / variance;
  const bool foretells = n >= kMinSamples && rate > 0.0 && slope < 0.0 && options_.target > 0.0;
  if (!foretells) return std::nan("");
  const double fitted =
      mean_log + slope * (double(sample(samples_.size() - 1).iteration) - mean_iteration);
  return std::max(0.0, (std::log(options_.target) - fitted) / slope / rate);
}

std::string Progress::text() const {
  const Sample& last = sample(samples_.size() - 1);
  std::string text = fmt::format("{}: iteration {}", options_.label, last.iteration);
  if (options_.max_iterations > 0) text += fmt::format(" of at most {}", options_.max_iterations);
  text += fmt::format(", residual {:.2e}", last.residual);
  if (options_.target > 0) text += fmt::format(" (target {:.0e})", options_.target);
  const double rate = iterations_per_second();
  if (rate <= 0.0) return text;
  text += fmt::format(", {} it/s", rate < 10.0 ? fmt::format("{:.2f}", rate) : human_count(rate));
  const double left = seconds_left(rate);
  if (!std::isfinite(left)) return text;
  const double until_limit =
      options_.max_iterations > 0 ? double(options_.max_iterations - last.iteration) / rate : left;
  if (until_limit < left) return text + ", limit in " + human_seconds(until_limit);
  return text + ", ETA " + human_seconds(left);
}

}  // namespace tessera
