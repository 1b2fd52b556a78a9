// A DeviceCycleWatch times the parts of multigrid cycles on the GPU.
#pragma once

#include <vector>

#include "solvers/memory/device.hpp"
#include "src/solve/cycle_timing.hpp"

namespace tessera {

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
