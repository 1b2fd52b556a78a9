// This function writes what result.json says of a run in time.
#pragma once

#include <nlohmann/json.hpp>

#include "postprocess/series/time_summary.hpp"

namespace tessera {

/// "time" of result.json.
nlohmann::ordered_json time_json(const TimeSummary& time);

}  // namespace tessera
