// This function repeats what tells its own seconds, as GPUs do.
#pragma once

#include <utility>
#include <vector>

#include "postprocess/timing/clock.hpp"
#include "postprocess/timing/statistics.hpp"
#include "solvers/interruption.hpp"
#include "src/parameters/command_line.hpp"
#include "src/studies/study_options.hpp"

namespace tessera {

/// Of seconds_of_one(), called as often as the pace says, after one call that does not count.
/// @throws Interrupted between two calls, what seconds_of_one() throws
// Inline, so that builds without CUDA have none of what those call that are not used there.
template <class Seconds>
inline Summary repeat_runs(const Pace& pace, Seconds&& seconds_of_one) {
  std::vector<double> seconds;
  seconds_of_one();
  const double start = seconds_now();
  while (static_cast<int>(seconds.size()) < pace.repetitions) {
    stop_if_requested();
    seconds.push_back(seconds_of_one());
    if (static_cast<int>(seconds.size()) >= kMinStudyRepetitions &&
        seconds_now() - start > pace.time_limit_s) {
      break;
    }
  }
  return summarize(std::move(seconds));
}

}  // namespace tessera
