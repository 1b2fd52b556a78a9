// A Stopwatch takes the time of work on the host or on the GPU.
#pragma once

#include "postprocess/timing/clock.hpp"
#include "solvers/memory/device.hpp"

namespace tessera {

/// Seconds between two points of the processor's own time line.
template <class Space>
class Stopwatch {
 public:
  void start() { start_ = seconds_now(); }
  double stop() const { return seconds_now() - start_; }

 private:
  double start_ = 0.0;
};

template <>
class Stopwatch<Device> : public DeviceStopwatch {};

}  // namespace tessera
