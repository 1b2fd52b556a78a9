// This file makes plots and tables of rows, side by side for several sources.
#include "postprocess/report/studies/study_figure.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "postprocess/report/html.hpp"

namespace tessera::report {
namespace {

constexpr std::size_t kMaxColumns = 9;

// Series by name in the order of the rows; of several points at an x the last, which is the row of
// the largest problem where rows grow.
std::vector<Series> series_of(const StudyPlot& plot, const PanelRows& panel, SeriesStyles& styles) {
  std::vector<Series> all;
  for (const RowRef& row : panel.rows) {
    const auto x = plot.x_of(row);
    const auto y = plot.y_of(row);
    if (!x || !y) continue;
    const std::string name = plot.name_of(row);
    auto found = std::find_if(all.begin(), all.end(),
                              [&](const Series& series) { return series.name == name; });
    if (found == all.end()) found = all.insert(all.end(), styles.series(name));
    const auto same = std::find_if(found->points.begin(), found->points.end(),
                                   [&](const PlotPoint& point) { return point.x == *x; });
    if (same != found->points.end()) {
      same->y = *y;
    } else {
      found->points.push_back({*x, *y});
    }
  }
  for (Series& series : all) {
    std::stable_sort(series.points.begin(), series.points.end(),
                     [](const PlotPoint& a, const PlotPoint& b) { return a.x < b.x; });
  }
  return all;
}

std::set<double> places(const std::vector<Plot>& panels) {
  std::set<double> xs;
  for (const Plot& panel : panels) {
    for (const Series& series : panel.series) {
      for (const PlotPoint& point : series.points) xs.insert(point.x);
    }
  }
  return xs;
}

std::optional<double> value_at(const Plot& panel, const std::string& name, double x) {
  for (const Series& series : panel.series) {
    if (series.name != name) continue;
    for (const PlotPoint& point : series.points) {
      if (point.x == x) return point.y;
    }
  }
  return std::nullopt;
}

std::vector<std::string> names_of(const std::vector<Plot>& panels) {
  std::vector<std::string> names;
  for (const Plot& panel : panels) {
    for (const Series& series : panel.series) {
      if (std::find(names.begin(), names.end(), series.name) == names.end()) {
        names.push_back(series.name);
      }
    }
  }
  return names;
}

std::string table_of(const std::vector<Plot>& panels, const std::vector<std::string>& labels,
                     const StudyPlot& plot) {
  const std::set<double> xs = places(panels);
  std::vector<std::vector<std::string>> rows;
  std::size_t points = 0;
  for (const Series& series : panels.front().series) points += series.points.size();
  const bool is_dense = 2 * points > panels.front().series.size() * xs.size();
  if (panels.size() == 1 && xs.size() <= kMaxColumns && is_dense) {
    std::vector<std::string> headers = {fmt::format("{} at {}", plot.y.label, plot.x.label)};
    for (const double x : xs) headers.push_back(fmt::format("{:.4g}", x));
    for (const std::string& name : names_of(panels)) {
      std::vector<std::string> row = {name};
      for (const double x : xs) row.push_back(short_number(value_at(panels.front(), name, x)));
      rows.push_back(std::move(row));
    }
    return html_table(headers, rows);
  }
  std::vector<std::string> headers = {"", plot.x.label};
  for (const std::string& label : labels) {
    headers.push_back(labels.size() > 1 ? label : plot.y.label);
  }
  if (panels.size() == 2) headers.push_back(fmt::format("{} : {}", labels[1], labels[0]));
  for (const std::string& name : names_of(panels)) {
    for (const double x : xs) {
      std::vector<std::string> row = {name, fmt::format("{:.4g}", x)};
      std::vector<std::optional<double>> values;
      values.reserve(panels.size());
      for (const Plot& panel : panels) values.push_back(value_at(panel, name, x));
      if (std::none_of(values.begin(), values.end(), [](const auto& v) { return v.has_value(); })) {
        continue;
      }
      for (const auto& value : values) row.push_back(short_number(value));
      if (panels.size() == 2) {
        row.push_back(values[0] && values[1] && *values[0] != 0.0
                          ? short_number(*values[1] / *values[0])
                          : "–");
      }
      rows.push_back(std::move(row));
    }
  }
  return html_table(headers, rows);
}

// One x only: bars say more than points above each other.
void make_bars(Plot& panel, const StudyPlot& plot, double x) {
  for (const Series& series : panel.series) {
    const double value = series.points.front().y;
    panel.bars.push_back({series.name, value, short_number(value), series.color});
  }
  panel.title += fmt::format(", {} {:.4g}", plot.x.label, x);
  panel.series.clear();
  panel.x = {plot.y.label, Scale::linear};
}

}  // namespace

std::vector<ProblemRows> rows_by_problem(const std::vector<const TableSource*>& sources,
                                         const std::function<std::string(const RowRef&)>& problem) {
  std::vector<ProblemRows> problems;
  for (const TableSource* source : sources) {
    for (std::size_t i = 0; i < source->table.size(); ++i) {
      const RowRef row{&source->table, i};
      const std::string title = problem(row);
      auto found = std::find_if(problems.begin(), problems.end(),
                                [&](const ProblemRows& p) { return p.title == title; });
      if (found == problems.end()) found = problems.insert(problems.end(), ProblemRows{title, {}});
      auto panel = std::find_if(found->panels.begin(), found->panels.end(),
                                [&](const PanelRows& p) { return p.label == source->label; });
      if (panel == found->panels.end()) {
        panel = found->panels.insert(panel, PanelRows{source->label, {}});
      }
      panel->rows.push_back(row);
    }
  }
  return problems;
}

Figure study_figure(const StudyPlot& plot, const ProblemRows& problem, SeriesStyles& styles) {
  Figure figure;
  std::vector<std::string> labels;
  for (const PanelRows& rows : problem.panels) {
    Plot panel{plot.title, plot.x, plot.y, series_of(plot, rows, styles), {}};
    if (panel.series.empty()) continue;
    labels.push_back(rows.label);
    figure.panels.push_back(std::move(panel));
  }
  if (figure.panels.empty()) return figure;
  figure.note = plot.note;
  figure.table = table_of(figure.panels, labels, plot);
  const std::set<double> xs = places(figure.panels);
  for (std::size_t n = 0; n < figure.panels.size(); ++n) {
    if (xs.size() == 1) make_bars(figure.panels[n], plot, *xs.begin());
    if (figure.panels.size() > 1) figure.panels[n].title += ": " + labels[n];
  }
  share_axes(figure.panels);
  return figure;
}

void add_figure(Page& page, Figure figure) {
  if (!figure.panels.empty()) page.figure(std::move(figure));
}

std::string short_number(double value) {
  if (!std::isfinite(value)) return "–";
  const double size = std::abs(value);
  if (size >= 1000.0 && size < 1e6) return fmt::format("{:.0f}", value);
  return fmt::format("{:.3g}", value);
}

std::string short_number(const std::optional<double>& value) {
  return value ? short_number(*value) : "–";
}

std::string ranks_of(const RowRef& row) {
  const std::string ranks = row.text("ranks");
  return ranks.empty() || ranks == "1" ? "" : ", " + ranks + " ranks";
}

}  // namespace tessera::report
