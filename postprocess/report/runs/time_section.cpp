// What a run in time did: its steps, and its probes over time.
#include <fmt/format.h>

#include <algorithm>

#include "postprocess/report/html.hpp"
#include "postprocess/report/sections.hpp"
#include "postprocess/report/studies/study_figure.hpp"

namespace tessera::report {
namespace {

constexpr std::size_t kMaxPoints = 400;
constexpr std::size_t kMaxRows = 25;
constexpr std::size_t kMaxTimes = 200;
// More lines, and more columns, could not be told apart.
constexpr int kMaxLines = 7;
constexpr std::size_t kMaxColumns = 200;

std::vector<PlotPoint> column_over_time(const CsvTable& table, const std::string& column) {
  std::vector<PlotPoint> points;
  for (std::size_t i = 0; i < table.size(); ++i) {
    const auto t = table.number(i, "t");
    const auto value = table.number(i, column);
    if (t && value) points.push_back({*t, *value});
  }
  return thinned(points, kMaxPoints);
}

Figure steps_figure(const CsvTable& steps, const std::string& title, const std::string& y,
                    Scale scale, const std::string& column) {
  std::vector<PlotPoint> points = column_over_time(steps, column);
  if (points.empty()) return {};
  Plot plot{title, {"t", Scale::linear, {}}, {y, scale, {}}, {}, {}};
  plot.series.push_back({"", std::move(points), 0, 0, Marks::none});
  return {{std::move(plot)}, "", ""};
}

// Cells that are numbers with six digits.
std::vector<std::string> rounded_row(const CsvTable& table, std::size_t row) {
  std::vector<std::string> cells;
  for (const std::string& cell : table.row(row)) {
    const auto number = number_of(cell);
    cells.push_back(number ? fmt::format("{:.6g}", *number) : cell);
  }
  return cells;
}

// Every n-th step, and the last.
std::string steps_table(const CsvTable& steps) {
  std::vector<std::vector<std::string>> rows;
  const std::size_t stride = (steps.size() + kMaxRows - 1) / kMaxRows;
  for (std::size_t i = 0; i < steps.size(); i += stride) rows.push_back(rounded_row(steps, i));
  if ((steps.size() - 1) % stride != 0) rows.push_back(rounded_row(steps, steps.size() - 1));
  return html_table(steps.columns(), rows);
}

void add_steps(Page& page, const CsvTable& steps, const std::string& label) {
  if (steps.size() == 0) return;
  page.heading(3, "Steps");
  add_figure(page,
             steps_figure(steps, "Length of the steps, " + label, "dt", Scale::logarithmic, "dt"));
  add_figure(page, steps_figure(steps, "Linear iterations of each step, " + label, "iterations",
                                Scale::linear, "linear_iterations"));
  if (steps.size() > kMaxRows) {
    page.html(paragraph(fmt::format("Some of the {} steps:", steps.size())));
  }
  page.html(steps_table(steps));
}

// Those of the first probes, with the exact values as dashed lines.
Figure probes_figure(const CsvTable& probes, const std::string& label) {
  Plot plot{
      "Values at the probes, " + label, {"t", Scale::linear, {}}, {"u", Scale::linear, {}}, {}, {}};
  for (int n = 1; n <= kMaxLines; ++n) {
    for (const auto& [prefix, dash] : {std::pair{"u", 0}, {"exact", 2}}) {
      const std::string column = fmt::format("{}{}", prefix, n);
      std::vector<PlotPoint> points = column_over_time(probes, column);
      if (points.empty()) continue;
      plot.series.push_back({column, std::move(points), n - 1, dash, Marks::none});
    }
  }
  if (plot.series.empty()) return {};
  const bool has_more = probes.has(fmt::format("u{}", kMaxLines + 1));
  return {{std::move(plot)}, has_more ? fmt::format("The first {} probes.", kMaxLines) : "", ""};
}

void add_probe_series(Page& page, const CsvTable& probes, const std::string& label) {
  page.heading(3, "Probes");
  std::string places;
  for (const auto& [name, place] : probes.comments()) {
    if (!place.empty())
      places += fmt::format("<dt>{}</dt><dd>{}</dd>\n", escaped(name), escaped(place));
  }
  if (probes.columns().size() > kMaxColumns) {
    page.html(gap(fmt::format("There are {} columns in probes.csv.", probes.columns().size())));
    return;
  }
  if (!places.empty()) page.html("<dl>\n" + places + "</dl>\n");
  add_figure(page, probes_figure(probes, label));
  std::vector<std::vector<std::string>> rows;
  const std::size_t first = probes.size() - std::min(probes.size(), kMaxTimes);
  for (std::size_t i = first; i < probes.size(); ++i) rows.push_back(rounded_row(probes, i));
  if (first > 0) {
    page.html(gap(fmt::format("The last {} of {} times.", kMaxTimes, probes.size())));
  }
  page.html(html_table(probes.columns(), rows));
}

}  // namespace

void add_time(Page& page, const RunSource& run) {
  if (run.steps) add_steps(page, *run.steps, run.label);
  if (run.probes && run.is_in_time()) add_probe_series(page, *run.probes, run.label);
}

}  // namespace tessera::report
