// This file has the keys of "time" in result.json.
#include "src/commands/time/time_json.hpp"

namespace tessera {

nlohmann::ordered_json time_json(const TimeSummary& time) {
  using Json = nlohmann::ordered_json;
  Json error;
  if (const auto& most = time.max_error) {
    error = {{"l2", most->l2}, {"h1_seminorm", most->h1_seminorm}, {"max", most->max}};
  }
  return {{"method", time.method},
          {"order", time.order},
          {"start", time.start},
          {"end", time.end},
          {"steps", time.steps},
          {"rejected", time.rejected},
          {"outputs", time.outputs},
          {"linear_iterations", time.linear_iterations},
          {"nonlinear_iterations", time.nonlinear_iterations},
          {"smallest_step", time.smallest_step},
          {"largest_step", time.largest_step},
          {"max_error", error}};
}

}  // namespace tessera
