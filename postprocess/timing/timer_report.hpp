// These functions print a timer tree as text, CSV and JSON.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "postprocess/timing/limit.hpp"
#include "postprocess/timing/timers.hpp"

namespace tessera {

/// The timer tree as a table for the screen: part (indented), calls, total, mean, share of the run
/// and, for parts whose work is known, DoF/s, GB/s, the share of the limit that the machine sets
/// and what sets it (limit.hpp).
/// Parts that never ran are left out; the last line is the whole run.
std::string timer_table(const TimerTree& timers, const MachineRates& machine);

/// The same as CSV, one line per part: part (full path), calls, total_s, mean_s, min_s, share,
/// dofs_per_s, gbytes_per_s, bandwidth_share (of the copy), gflops_per_s, limit_share, limit; cells
/// that are not known are empty.
std::string timer_csv(const TimerTree& timers, const MachineRates& machine);

/// The same for result.json: {"elapsed_s", "parts": [{"name", "calls", "total_s", "mean_s",
/// "min_s", "dofs_per_s"?, "gbytes_per_s"?, "gflops_per_s"?, "limit"?, "limit_share"?,
/// "parts": [...]}]}.
nlohmann::json timer_json(const TimerTree& timers, const MachineRates& machine);

}  // namespace tessera
