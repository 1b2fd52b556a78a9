// This file compares what different numbers of ranks measured.
#include "postprocess/report/studies/scaling.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "postprocess/files/human_units.hpp"
#include "postprocess/files/text_table.hpp"

namespace tessera::report {
namespace {

// On a GPU the threads of a process make no difference.
std::string processor_of(const CsvTable& table, std::size_t row) {
  if (!table.comment("gpu").empty()) return "a GPU";
  const std::string threads = table.text(row, "threads");
  return fmt::format("{} thread{}", threads, threads == "1" ? "" : "s");
}

// What two rows have alike whose numbers of ranks are compared.
std::string title_of(const CsvTable& table, std::size_t row) {
  std::string title =
      fmt::format("{}D {}, degree {}, {}, {} a process, ", table.text(row, "dimension"),
                  table.text(row, "geometry"), table.text(row, "degree"),
                  table.text(row, "precision"), processor_of(table, row));
  if (table.has("kernel")) {
    const std::string scatter = table.text(row, "scatter");
    const std::string factors = table.text(row, "geometry_form");
    title += table.text(row, "kernel");
    if (scatter != "none") title += "/" + scatter;
    if (factors != "none") title += ", " + factors;
    title += fmt::format(", {} points", table.text(row, "points"));
  } else {
    title += fmt::format("{}, {}, {} to {}", table.text(row, "operator"), table.text(row, "method"),
                         table.text(row, "solver"), table.text(row, "relative_tolerance"));
  }
  const std::string for_each = table.text(row, "dofs_per_rank");
  return title + (for_each.empty() ? fmt::format(": {} DoFs", table.text(row, "dofs"))
                                   : fmt::format(": about {} DoFs a rank", for_each));
}

struct MeasuredRow {
  ScalingRow row;
  std::optional<double> foreseen_seconds;
};

std::optional<MeasuredRow> measured_row(const CsvTable& table, std::size_t i) {
  const auto ranks = table.number(i, "ranks");
  const auto dofs = table.number(i, "dofs");
  const auto seconds = table.number(i, "min_s");
  if (!ranks || !dofs || !seconds || *seconds <= 0.0 || *ranks < 1.0) return std::nullopt;
  MeasuredRow measured;
  measured.row.ranks = static_cast<int>(*ranks);
  measured.row.grid = table.text(i, "rank_grid");
  measured.row.dofs = *dofs;
  measured.row.seconds = *seconds;
  measured.row.iterations = table.number(i, "iterations");
  measured.foreseen_seconds = table.number(i, "model_s");
  return measured;
}

// Against the first, which has the fewest ranks.
Scaling compared(std::string title, std::vector<MeasuredRow> measured) {
  std::stable_sort(
      measured.begin(), measured.end(),
      [](const MeasuredRow& a, const MeasuredRow& b) { return a.row.ranks < b.row.ranks; });
  Scaling scaling{std::move(title), {}};
  const MeasuredRow& base = measured.front();
  for (const MeasuredRow& each : measured) {
    ScalingRow row = each.row;
    const double share = static_cast<double>(base.row.ranks) / row.ranks;
    const double growth = row.dofs / base.row.dofs;
    row.speed_up = growth * base.row.seconds / row.seconds;
    row.efficiency = row.speed_up * share;
    if (base.foreseen_seconds && each.foreseen_seconds) {
      row.foreseen_efficiency = growth * *base.foreseen_seconds / *each.foreseen_seconds * share;
    }
    scaling.rows.push_back(std::move(row));
  }
  return scaling;
}

}  // namespace

std::vector<Scaling> scalings(const CsvTable& table) {
  std::vector<std::pair<std::string, std::vector<MeasuredRow>>> groups;
  for (std::size_t i = 0; i < table.size(); ++i) {
    const std::optional<MeasuredRow> row = measured_row(table, i);
    if (!row) continue;
    const std::string title = title_of(table, i);
    auto group = std::find_if(groups.begin(), groups.end(),
                              [&](const auto& known) { return known.first == title; });
    if (group == groups.end()) group = groups.insert(group, {title, {}});
    group->second.push_back(*row);
  }
  std::vector<Scaling> all;
  for (auto& group : groups) {
    std::vector<MeasuredRow>& rows = group.second;
    const int ranks = rows.front().row.ranks;
    const bool has_other = std::any_of(rows.begin(), rows.end(), [ranks](const MeasuredRow& row) {
      return row.row.ranks != ranks;
    });
    if (has_other) all.push_back(compared(group.first, std::move(rows)));
  }
  return all;
}

std::vector<std::string> scaling_header() {
  return {"ranks", "grid",     "DoFs",       "iterations",
          "time",  "speed-up", "efficiency", "foreseen efficiency"};
}

std::vector<std::string> scaling_cells(const ScalingRow& row) {
  return {fmt::format("{}", row.ranks),
          row.grid,
          human_count(row.dofs),
          row.iterations ? fmt::format("{:.0f}", *row.iterations) : "-",
          human_seconds(row.seconds),
          fmt::format("{:.2f}", row.speed_up),
          human_percent(row.efficiency),
          row.foreseen_efficiency ? human_percent(*row.foreseen_efficiency) : "-"};
}

std::string scaling_text(const CsvTable& table) {
  const std::vector<Scaling> all = scalings(table);
  if (all.empty()) {
    return "\nmeasure this with another number of processes to see how well they share it\n";
  }
  std::string text;
  for (const Scaling& scaling : all) {
    std::vector<TextTable::Column> columns;
    for (const std::string& name : scaling_header()) columns.push_back({name});
    columns.front().header.insert(0, "  ");
    TextTable lines(std::move(columns));
    for (const ScalingRow& row : scaling.rows) lines.add_row(scaling_cells(row));
    text += "\n" + scaling.title + "\n" + lines.text();
  }
  return text;
}

}  // namespace tessera::report
