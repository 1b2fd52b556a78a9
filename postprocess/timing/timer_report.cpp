// This file computes rates and shares of timed parts.
#include "postprocess/timing/timer_report.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "postprocess/files/human_units.hpp"
#include "postprocess/files/text_table.hpp"

namespace tessera {
namespace {

using Part = TimerTree::Part;

double mean(const Part& part) { return part.calls > 0 ? part.total / double(part.calls) : 0.0; }

bool ran(const Part& part) {
  return part.calls > 0 || std::any_of(part.children.begin(), part.children.end(), ran);
}

// Work per second at the mean time; 0 if it is not known.
double rate(const Part& part, double work) { return part.total > 0.0 ? work / mean(part) : 0.0; }

double ratio(double a, double b) { return b > 0.0 ? a / b : 0.0; }

std::string known(double value, std::string (*text)(double)) {
  return value > 0 ? text(value) : "";
}

std::string csv_number(double value) { return value > 0 ? fmt::format("{:.6g}", value) : ""; }

// Calls f(part, path) for each part that ran, parents first.
template <class F>
void for_each_part(const std::vector<Part>& parts, const std::string& prefix, F&& f) {
  for (const Part& part : parts) {
    if (!ran(part)) continue;
    const std::string path = prefix + part.name;
    f(part, path);
    for_each_part(part.children, path + "/", f);
  }
}

Limit limit_of(const Part& part, const MachineRates& machine) {
  return part.total > 0.0 ? tessera::limit_of(part.work, machine) : Limit{};
}

// The times of a single process.
RankTimes own_times(const TimerTree& timers) { return gather_times(timers, single_rank()); }

nlohmann::json to_json(const std::vector<Part>& parts, const std::string& prefix,
                       const RankTimes& times, const MachineRates& machine) {
  nlohmann::json result = nlohmann::json::array();
  for (const Part& part : parts) {
    if (!ran(part)) continue;
    nlohmann::json entry = {{"name", part.name},
                            {"calls", part.calls},
                            {"total_s", part.total},
                            {"mean_s", mean(part)},
                            {"min_s", part.min}};
    if (part.work.dofs > 0) entry["dofs_per_s"] = rate(part, part.work.dofs);
    if (part.work.bytes > 0) entry["gbytes_per_s"] = rate(part, part.work.bytes) * 1e-9;
    if (part.work.flops > 0) entry["gflops_per_s"] = rate(part, part.work.flops) * 1e-9;
    if (const Limit limit = limit_of(part, machine); limit.seconds > 0.0) {
      entry["limit"] = limit.name;
      entry["limit_share"] = limit.share(mean(part));
    }
    const std::string path = prefix + part.name;
    if (const RankSpread* spread = times.find(path)) {
      entry["ranks"] = {{"min_s", spread->min}, {"mean_s", spread->mean}, {"max_s", spread->max}};
    }
    if (!part.children.empty()) {
      entry["parts"] = to_json(part.children, path + "/", times, machine);
    }
    result.push_back(std::move(entry));
  }
  return result;
}

// What the slowest rank takes times the mean, where that is worth a word.
std::string spread_text(const RankTimes& times, const std::string& path) {
  const RankSpread* const spread = times.find(path);
  if (spread == nullptr || spread->imbalance() <= kNotedImbalance) return "";
  return fmt::format("{:.2f}", spread->imbalance());
}

}  // namespace

std::string timer_table(const TimerTree& timers, const MachineRates& machine) {
  return timer_table(own_times(timers), machine);
}

std::string timer_table(const RankTimes& times, const MachineRates& machine) {
  const double elapsed = times.elapsed;
  const std::vector<Part>& parts = times.parts;
  bool any_dofs = false;
  bool any_bytes = false;
  for_each_part(parts, "", [&](const Part& part, const std::string&) {
    any_dofs = any_dofs || part.work.dofs > 0;
    any_bytes = any_bytes || part.work.bytes > 0;
  });
  bool any_limits = false;
  for_each_part(parts, "", [&](const Part& part, const std::string&) {
    any_limits = any_limits || limit_of(part, machine).seconds > 0.0;
  });

  std::vector<TextTable::Column> columns = {
      {"part", Align::left}, {"calls"}, {"total"}, {"mean"}, {"of run"}};
  if (any_dofs) columns.push_back({"DoFs"});
  if (any_bytes) columns.push_back({"bytes"});
  if (any_limits) {
    columns.push_back({"of limit"});
    columns.push_back({"by", Align::left});
  }
  const bool any_spread =
      std::any_of(times.spreads.begin(), times.spreads.end(),
                  [](const auto& spread) { return spread.second.imbalance() > kNotedImbalance; });
  if (any_spread) columns.push_back({"spread"});
  TextTable table(columns);
  for_each_part(parts, "", [&](const Part& part, const std::string& path) {
    std::vector<std::string> row = {std::string(2 * part.depth, ' ') + part.name,
                                    fmt::format("{}", part.calls), human_seconds(part.total),
                                    human_seconds(mean(part)),
                                    human_percent(ratio(part.total, elapsed))};
    const double bandwidth = rate(part, part.work.bytes);
    if (any_dofs) row.push_back(known(rate(part, part.work.dofs), human_dofs_per_second));
    if (any_bytes) row.push_back(known(bandwidth, human_bytes_per_second));
    if (any_limits) {
      const Limit limit = limit_of(part, machine);
      row.push_back(known(limit.share(mean(part)), human_percent));
      row.push_back(limit.name);
    }
    if (any_spread) row.push_back(spread_text(times, path));
    table.add_row(row);
  });
  table.add_row({"run", "", human_seconds(elapsed), "", human_percent(1.0)});
  return table.text();
}

std::string timer_csv(const TimerTree& timers, const MachineRates& machine) {
  return timer_csv(own_times(timers), machine);
}

std::string timer_csv(const RankTimes& times, const MachineRates& machine) {
  const double elapsed = times.elapsed;
  std::vector<std::string> titles = {
      "part",       "calls",        "total_s",         "mean_s",       "min_s",       "share",
      "dofs_per_s", "gbytes_per_s", "bandwidth_share", "gflops_per_s", "limit_share", "limit"};
  if (times.ranks > 1) titles.insert(titles.end(), {"rank_min_s", "rank_mean_s"});
  std::string csv = csv_line(titles);
  for_each_part(times.parts, "", [&](const Part& part, const std::string& path) {
    const double bandwidth = rate(part, part.work.bytes);
    const Limit limit = limit_of(part, machine);
    std::vector<std::string> cells = {path,
                                      fmt::format("{}", part.calls),
                                      fmt::format("{:.6g}", part.total),
                                      fmt::format("{:.6g}", mean(part)),
                                      fmt::format("{:.6g}", part.min),
                                      fmt::format("{:.6g}", ratio(part.total, elapsed)),
                                      csv_number(rate(part, part.work.dofs)),
                                      csv_number(bandwidth * 1e-9),
                                      csv_number(ratio(bandwidth, machine.copy_bytes_per_second)),
                                      csv_number(rate(part, part.work.flops) * 1e-9),
                                      csv_number(limit.share(mean(part))),
                                      limit.name};
    if (const RankSpread* spread = times.find(path)) {
      cells.push_back(fmt::format("{:.6g}", spread->min));
      cells.push_back(fmt::format("{:.6g}", spread->mean));
    }
    csv += csv_line(cells);
  });
  return csv;
}

nlohmann::json timer_json(const TimerTree& timers, const MachineRates& machine) {
  return timer_json(own_times(timers), machine);
}

nlohmann::json timer_json(const RankTimes& times, const MachineRates& machine) {
  return {{"elapsed_s", times.elapsed}, {"parts", to_json(times.parts, "", times, machine)}};
}

}  // namespace tessera
