// These observers time the parts of multigrid cycles.
#pragma once

#include <fmt/format.h>

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "postprocess/timing/timers.hpp"
#include "solvers/memory/device.hpp"
#include "solvers/preconditioners/multigrid.hpp"
#include "src/parameters/names.hpp"

namespace tessera {

template <>
inline constexpr auto kNamesOf<CyclePart> =
    names_in_order<CyclePart>({{CyclePart::smooth, "smooth"},
                               {CyclePart::residual, "residual"},
                               {CyclePart::transfer, "transfer"},
                               {CyclePart::coarse, "coarse solve"}});

/// "level 0: smooth".
inline std::string cycle_timer_name(std::size_t level, CyclePart part) {
  return fmt::format("level {}: {}", level, name_of(part));
}

/// Times the parts of cycles on the host, within the innermost open scope.
class CycleTimer final : public CycleObserver {
 public:
  explicit CycleTimer(TimerTree& timers) : timers_(timers) {}
  void begin(int level, CyclePart part) override {
    part_.emplace(timers_, cycle_timer_name(static_cast<std::size_t>(level), part));
  }
  void end() override { part_.reset(); }

 private:
  TimerTree& timers_;
  // Made in place: scopes are neither copied nor moved.
  struct Part {
    Part(TimerTree& timers, const std::string& name) : scope(timers.scope(name)) {}
    TimerTree::Scope scope;
  };

  std::optional<Part> part_;
};

/// Seconds of each part of a cycle on one level.
using CycleTimes = std::array<double, kNamesOf<CyclePart>.size()>;

/// Times the parts of cycles on the GPU one by one; the GPU idles between them.
class DeviceCycleWatch final : public CycleObserver {
 public:
  void begin(int level, CyclePart part) override {
    level_ = static_cast<std::size_t>(level);
    part_ = static_cast<std::size_t>(part);
    stopwatch_.start();
  }
  void end() override {
    const double seconds = stopwatch_.stop();
    if (times_.size() <= level_) times_.resize(level_ + 1);
    times_[level_][part_] += seconds;
  }
  /// By level.
  const std::vector<CycleTimes>& times() const { return times_; }

 private:
  DeviceStopwatch stopwatch_;
  std::size_t level_ = 0;
  std::size_t part_ = 0;
  std::vector<CycleTimes> times_;
};

}  // namespace tessera
