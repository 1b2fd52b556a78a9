// This file writes launch reports as tables, CSV and JSON.
#include <fmt/format.h>

#include <iterator>
#include <nlohmann/json.hpp>

#include "postprocess/files/human_units.hpp"
#include "postprocess/files/text_table.hpp"
#include "src/launches/launch_report.hpp"

namespace tessera {
namespace {

constexpr char kRow[] =
    "  {:<{}} {:>5} {:>16} {:>7} {:>5} {:>8} {:>6} {:>9} {:>9} {:>9} {:>8} {:>6} {:>6} {:>9} {:>6} "
    "{:>9} {:>9}\n";

std::string grid_text(const LaunchGrid& grid) {
  if (grid[2] > 1) return fmt::format("{}x{}x{}", grid[0], grid[1], grid[2]);
  if (grid[1] > 1) return fmt::format("{}x{}", grid[0], grid[1]);
  return fmt::format("{}", grid[0]);
}

std::string percent(double share) { return fmt::format("{:.1f}%", 100.0 * share); }

std::string seconds_or_dash(double seconds) { return seconds > 0.0 ? human_seconds(seconds) : "-"; }

std::string number(double value) { return fmt::format("{:.6g}", value); }
std::string number_if(double value) { return value > 0.0 ? number(value) : std::string(); }

void add_table(const LaunchReport& report, double copy, std::string& text) {
  const auto end = std::back_inserter(text);
  fmt::format_to(end, "\n{}: ", report.work);
  if (!report.not_measured.empty()) {
    fmt::format_to(end, "launches not measured: {}\n", report.not_measured);
    return;
  }
  int count = 0;
  std::size_t width = std::string_view("kernel").size();
  for (const LaunchRecord& launch : report.launches) {
    count += launch.count;
    width = std::max(width, launch.kernel.size());
  }
  fmt::format_to(end, "{} kernel{}, {}", count, count == 1 ? "" : "s",
                 human_seconds(report.seconds));
  if (report.lower_seconds(copy) > 0.0) {
    fmt::format_to(end, ", at least {} for its least traffic",
                   human_seconds(report.lower_seconds(copy)));
  }
  text += "\n";
  fmt::format_to(end, kRow, "kernel", width, "times", "grid", "threads", "regs", "shared", "local",
                 "blocks/SM", "limit", "slots", "waves", "last", "idle", "time", "share", "lower",
                 "upper");
  for (const LaunchRecord& launch : report.launches) {
    const KernelResources& takes = launch.resources;
    fmt::format_to(
        end, kRow, launch.kernel, width, launch.count, grid_text(launch.grid), takes.threads,
        takes.registers, takes.shared_bytes, takes.local_bytes, launch.blocks_per_multiprocessor,
        limit_name(launch.foreseen.limit), launch.slots(), fmt::format("{:.2f}", launch.waves()),
        percent(launch.last_fill()), percent(launch.idle()), human_seconds(launch.seconds),
        percent(report.share(launch)), seconds_or_dash(report.lower_seconds(launch, copy)),
        human_seconds(launch.upper_seconds()));
  }
}

}  // namespace

std::string launch_table(const std::vector<LaunchReport>& reports, double copy_bytes_per_second) {
  if (reports.empty()) return "";
  std::string text =
      "launches: slots = blocks that the GPU holds at a time, waves = blocks / slots, last = how "
      "full the\nlast wave is, idle = what it loses at most; lower = least bytes at the bandwidth "
      "of a copy, upper =\nwaves one after another, each with nothing in the cache; time of one "
      "launch, share of all such\n";
  for (const LaunchReport& report : reports) add_table(report, copy_bytes_per_second, text);
  return text;
}

const std::vector<std::string>& launch_columns() {
  static const std::vector<std::string> columns = {"work",
                                                   "kernel",
                                                   "launches",
                                                   "grid_x",
                                                   "grid_y",
                                                   "grid_z",
                                                   "threads",
                                                   "registers",
                                                   "shared_bytes",
                                                   "local_bytes",
                                                   "blocks_per_multiprocessor",
                                                   "limit",
                                                   "slots",
                                                   "waves",
                                                   "last_wave_fill",
                                                   "idle",
                                                   "seconds",
                                                   "share",
                                                   "lower_s",
                                                   "upper_s",
                                                   "work_s",
                                                   "work_lower_s",
                                                   "full_name",
                                                   "outcome"};
  return columns;
}

std::vector<std::vector<std::string>> launch_rows(const LaunchReport& report,
                                                  double copy_bytes_per_second) {
  std::vector<std::vector<std::string>> rows;
  if (!report.not_measured.empty()) {
    std::vector<std::string> row(launch_columns().size());
    row.front() = report.work;
    row.back() = "not measured: " + report.not_measured;
    return {row};
  }
  for (const LaunchRecord& launch : report.launches) {
    const KernelResources& takes = launch.resources;
    rows.push_back({report.work,
                    launch.kernel,
                    std::to_string(launch.count),
                    std::to_string(launch.grid[0]),
                    std::to_string(launch.grid[1]),
                    std::to_string(launch.grid[2]),
                    std::to_string(takes.threads),
                    std::to_string(takes.registers),
                    std::to_string(takes.shared_bytes),
                    std::to_string(takes.local_bytes),
                    std::to_string(launch.blocks_per_multiprocessor),
                    std::string(limit_name(launch.foreseen.limit)),
                    std::to_string(launch.slots()),
                    number(launch.waves()),
                    number(launch.last_fill()),
                    number(launch.idle()),
                    number(launch.seconds),
                    number(report.share(launch)),
                    number_if(report.lower_seconds(launch, copy_bytes_per_second)),
                    number(launch.upper_seconds()),
                    number(report.seconds),
                    number_if(report.lower_seconds(copy_bytes_per_second)),
                    launch.full_name,
                    "measured"});
  }
  return rows;
}

std::string launch_csv(const std::vector<LaunchReport>& reports, double copy_bytes_per_second) {
  std::string csv = csv_line(launch_columns());
  for (const LaunchReport& report : reports) {
    for (const auto& row : launch_rows(report, copy_bytes_per_second)) csv += csv_line(row);
  }
  return csv;
}

nlohmann::ordered_json launch_json(const std::vector<LaunchReport>& reports,
                                   double copy_bytes_per_second) {
  using Json = nlohmann::ordered_json;
  const auto or_null = [](double value) { return value > 0.0 ? Json(value) : Json(); };
  Json all = Json::array();
  for (const LaunchReport& report : reports) {
    if (!report.not_measured.empty()) {
      all.push_back({{"work", report.work}, {"not_measured", report.not_measured}});
      continue;
    }
    Json kernels = Json::array();
    for (const LaunchRecord& launch : report.launches) {
      kernels.push_back({{"kernel", launch.kernel},
                         {"launches", launch.count},
                         {"grid", launch.grid},
                         {"threads", launch.resources.threads},
                         {"registers", launch.resources.registers},
                         {"shared_bytes", launch.resources.shared_bytes},
                         {"local_bytes", launch.resources.local_bytes},
                         {"blocks_per_multiprocessor", launch.blocks_per_multiprocessor},
                         {"limit", limit_name(launch.foreseen.limit)},
                         {"slots", launch.slots()},
                         {"waves", launch.waves()},
                         {"last_wave_fill", launch.last_fill()},
                         {"idle", launch.idle()},
                         {"seconds", launch.seconds},
                         {"share", report.share(launch)},
                         {"lower_s", or_null(report.lower_seconds(launch, copy_bytes_per_second))},
                         {"upper_s", launch.upper_seconds()}});
    }
    all.push_back({{"work", report.work},
                   {"seconds", report.seconds},
                   {"lower_s", or_null(report.lower_seconds(copy_bytes_per_second))},
                   {"other_nodes", report.other_nodes},
                   {"kernels", kernels}});
  }
  return all;
}

}  // namespace tessera
