// This file draws outputs when they are made, and all of them in the end.
#include "src/commands/time/picture_series.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "postprocess/picture/animation.hpp"
#include "solvers/ranks/stop_together.hpp"
#include "src/commands/run/solution_file.hpp"

namespace tessera {
namespace {

// Of an animation, and of its last frame on top.
constexpr double kSeconds = 6.0;
constexpr double kLastSeconds = 1.5;
// What is still seen, and what is not yet a wait.
constexpr double kShortest = 0.04;
constexpr double kLongest = 1.0;

}  // namespace

std::string title_at(const std::string& title, double t) {
  return fmt::format("{}{}t = {:.6g}", title, title.empty() ? "" : ", ", t);
}

void PictureSeries::add(const std::string& name, double t, const HostVector<double>& u,
                        const std::string& status) {
  notes_.attempt(name, "is missing", [&] {
    constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();
    stop_together(files_.ranks());
    if (!painter_) painter_.emplace(part_, discretization_, kAnimationSize);
    Frame frame{t, painter_->sample(u.span(), {kUnknown, kUnknown},
                                    {title_at(parameters_.title, t), status, program_name()})};
    const SolutionPicture picture = painter_->draw(frame.solution, frame.solution.range);
    files_.add(name, picture.png);
    files_.commit();
    if (!picture.complaint.empty() && notes_.is_first(picture.complaint)) {
      notes_.complain(picture.complaint);
    }
    keep(std::move(frame));
  });
}

void PictureSeries::keep(Frame frame) {
  if (outputs_++ % stride_ != 0) {
    last_ = std::move(frame);
    return;
  }
  last_.reset();
  frames_.push_back(std::move(frame));
  if (frames_.size() < kMaxAnimationFrames) return;
  static_assert(kMaxAnimationFrames % 2 == 0, "so that the last one is at an odd place");
  for (std::size_t i = 1; 2 * i < frames_.size(); ++i) frames_[i] = std::move(frames_[2 * i]);
  last_ = std::move(frames_.back());
  frames_.erase(frames_.begin() + kMaxAnimationFrames / 2, frames_.end());
  stride_ *= 2;
}

double PictureSeries::seconds_of(std::size_t frame) const {
  if (frame + 1 == frames_.size()) return kLastSeconds;
  const double share =
      (frames_[frame + 1].t - frames_[frame].t) / (frames_.back().t - frames_.front().t);
  return std::clamp(kSeconds * share, kShortest, kLongest);
}

void PictureSeries::finish() {
  if (last_) frames_.push_back(std::move(*last_));
  if (frames_.size() < 2) return;
  notes_.attempt("animation.png is missing", [&] {
    std::pair<double, double> range = {std::numeric_limits<double>::infinity(),
                                       -std::numeric_limits<double>::infinity()};
    for (const Frame& frame : frames_) {
      range.first = std::min(range.first, frame.solution.range.first);
      range.second = std::max(range.second, frame.solution.range.second);
    }
    std::vector<AnimationFrame> drawn;
    for (std::size_t i = 0; i < frames_.size(); ++i) {
      stop_together(files_.ranks());
      drawn.push_back({painter_->draw(frames_[i].solution, range).png, seconds_of(i)});
    }
    files_.add("animation.png", [&](AtomicFile& file) { file.write(animated_png(drawn)); });
    files_.commit();
  });
  frames_.clear();
  painter_.reset();
}

}  // namespace tessera
