// These functions print a timer tree as text, CSV and JSON.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "postprocess/timing/limit.hpp"
#include "postprocess/timing/rank_times.hpp"
#include "postprocess/timing/timers.hpp"

namespace tessera {

/// The timer tree as a table for the screen: part (indented), calls, total, mean, share of the run
/// and, for parts whose work is known, DoF/s, GB/s, the share of the limit that the machine sets
/// and what sets it (limit.hpp).
/// Parts that never ran are left out; the last line is the whole run.
///
/// Of several ranks it has the times of the slowest in each part, and how many times the mean these
/// are (`spread`) where that is more than kNotedImbalance.
std::string timer_table(const TimerTree& timers, const MachineRates& machine);
std::string timer_table(const RankTimes& times, const MachineRates& machine);

/// A part's largest time over the mean of the ranks that is worth a word.
inline constexpr double kNotedImbalance = 1.1;

/// The same as CSV, one line per part: part (full path), calls, total_s, mean_s, min_s, share,
/// dofs_per_s, gbytes_per_s, bandwidth_share (of the copy), gflops_per_s, limit_share, limit; cells
/// that are not known are empty. Of several ranks total_s, mean_s (of a call) and min_s are those
/// of the slowest, and rank_min_s and rank_mean_s follow: the least and the mean total over the
/// ranks.
std::string timer_csv(const TimerTree& timers, const MachineRates& machine);
std::string timer_csv(const RankTimes& times, const MachineRates& machine);

/// The same for result.json: {"elapsed_s", "parts": [{"name", "calls", "total_s", "mean_s",
/// "min_s", "dofs_per_s"?, "gbytes_per_s"?, "gflops_per_s"?, "limit"?, "limit_share"?,
/// "ranks"?: {"min_s", "mean_s", "max_s"}, "parts": [...]}]}, with "ranks" the totals over several
/// ranks.
nlohmann::json timer_json(const TimerTree& timers, const MachineRates& machine);
nlohmann::json timer_json(const RankTimes& times, const MachineRates& machine);

}  // namespace tessera
