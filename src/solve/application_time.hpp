// How long one application of an operator takes on the GPU is measured here.
#pragma once

#include <utility>
#include <vector>

#include "postprocess/timing/statistics.hpp"
#include "solvers/memory/device.hpp"
#include "solvers/memory/vector.hpp"

namespace tessera {

/// Whether what is timed has to be called once before, untimed.
enum class WarmUp { once, is_done };

/// The seconds of apply(y), which queues work that writes the vector y: the median of a few, since
/// long ones vary little. All ranks of the layout apply as often. @throws DeviceError
template <class T, class Apply>
double application_seconds(Apply&& apply, const VectorLayout& layout, WarmUp warm_up) {
  constexpr double kEnough = 3e-3;
  constexpr std::size_t kRepetitions = 5;
  DeviceVector<T> y(layout);
  if (warm_up == WarmUp::once) apply(y);
  DeviceStopwatch stopwatch;
  std::vector<double> seconds;
  double sum = 0.0;
  do {
    stopwatch.start();
    apply(y);
    seconds.push_back(stopwatch.stop());
    sum += seconds.back();
  } while (seconds.size() < kRepetitions && !on_any_rank(layout, sum >= kEnough));
  return median(std::move(seconds));
}

}  // namespace tessera
