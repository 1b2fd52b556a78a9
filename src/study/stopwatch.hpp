// A Stopwatch takes the time of work on the host or on the GPU.
#pragma once

#include <chrono>

#include "solvers/memory/device.hpp"

namespace tessera {

/// Seconds between two points of the processor's own time line.
template <class Space>
class Stopwatch {
 public:
  void start() { start_ = Clock::now(); }
  double stop() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }

 private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point start_;
};

template <>
class Stopwatch<Device> : public DeviceStopwatch {};

}  // namespace tessera
