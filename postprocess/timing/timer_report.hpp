// These functions print a timer tree as text, CSV and JSON.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "postprocess/timing/timers.hpp"

namespace tessera {

/// What rates are compared with.
struct MachineRates {
  double copy_bytes_per_second = 0.0;  // measured; 0: not known, and no shares are printed
};

/// The timer tree as a table for the screen: part (indented), calls, total, mean, share of the run
/// and, for parts whose work is known, DoF/s, GB/s and the share of the measured copy bandwidth.
/// Parts that never ran are left out; the last line is the whole run.
std::string timer_table(const TimerTree& timers, const MachineRates& machine);

/// The same as CSV, one line per part: part (full path), calls, total_s, mean_s, min_s, share,
/// dofs_per_s, gbytes_per_s, bandwidth_share; cells that are not known are empty.
std::string timer_csv(const TimerTree& timers, const MachineRates& machine);

/// The same for result.json: {"elapsed_s", "parts": [{"name", "calls", "total_s", "mean_s",
/// "min_s", "dofs_per_s"?, "gbytes_per_s"?, "parts": [...]}]}.
nlohmann::json timer_json(const TimerTree& timers);

}  // namespace tessera
