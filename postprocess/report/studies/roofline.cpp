// Roofs are lines without marks; the points of a kernel are joined.
#include "postprocess/report/studies/roofline.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "postprocess/report/html.hpp"
#include "postprocess/report/studies/study_figure.hpp"

namespace tessera::report {
namespace {

constexpr int kRoofColor = 6;

double intensity(const RoofPoint& point) { return point.gflops_per_s / point.gbytes_per_s; }

void add_slope(Plot& plot, const std::string& name, double gbytes_per_s,
               const std::optional<double>& peak, double low, double high, int dash) {
  const double end = peak ? std::min(high, *peak / gbytes_per_s) : high;
  if (end <= low) return;
  plot.series.push_back({fmt::format("{} {} GB/s", name, short_number(gbytes_per_s)),
                         {{low, low * gbytes_per_s}, {end, end * gbytes_per_s}},
                         kRoofColor,
                         dash,
                         Marks::none});
}

// What the point reaches of the lower of the roofs, and its name; else as was measured.
std::pair<double, std::string> limit(const MachineRoofs& roofs, const RoofPoint& point) {
  if (point.limit_share) return {*point.limit_share, point.limit};
  std::pair<double, std::string> lowest = {std::numeric_limits<double>::infinity(), ""};
  if (roofs.copy_gbytes_per_s) {
    lowest = {*roofs.copy_gbytes_per_s * intensity(point), "copy"};
  }
  if (roofs.peak_gflops && *roofs.peak_gflops < lowest.first) {
    lowest = {*roofs.peak_gflops, "fma"};
  }
  return {point.gflops_per_s / lowest.first, lowest.second};
}

Plot panel_plot(const std::string& title, const RooflinePanel& panel, SeriesStyles& styles) {
  Plot plot{title,
            {"flops per byte of least traffic", Scale::logarithmic, {}},
            {"Gflop/s", Scale::logarithmic, {}},
            {},
            {}};
  double low = std::numeric_limits<double>::infinity();
  double high = 0.0;
  for (const RoofPoint& point : panel.points) {
    low = std::min(low, intensity(point) / 1.5);
    high = std::max(high, intensity(point) * 1.5);
  }
  const MachineRoofs& roofs = panel.roofs;
  const auto& memory = roofs.copy_gbytes_per_s;
  if (memory && roofs.peak_gflops) high = std::max(high, 2.0 * *roofs.peak_gflops / *memory);
  if (roofs.peak_gflops) {
    const double steepest = std::max(memory.value_or(0.0), roofs.cache_gbytes_per_s.value_or(0.0));
    const double begin = steepest > 0.0 ? std::max(low, *roofs.peak_gflops / steepest) : low;
    plot.series.push_back({fmt::format("peak {} Gflop/s", short_number(*roofs.peak_gflops)),
                           {{begin, *roofs.peak_gflops}, {high, *roofs.peak_gflops}},
                           kRoofColor,
                           2,
                           Marks::none});
  }
  if (roofs.cache_gbytes_per_s) {
    add_slope(plot, "cache", *roofs.cache_gbytes_per_s, roofs.peak_gflops, low, high, 1);
  }
  if (memory) add_slope(plot, "copy", *memory, roofs.peak_gflops, low, high, 0);
  for (const RoofPoint& point : panel.points) {
    auto found = std::find_if(plot.series.begin(), plot.series.end(),
                              [&](const Series& series) { return series.name == point.name; });
    if (found == plot.series.end()) {
      found = plot.series.insert(plot.series.end(), styles.series(point.name));
    }
    found->points.push_back({intensity(point), point.gflops_per_s});
  }
  return plot;
}

}  // namespace

Figure roofline(const std::string& title, const std::string& detail,
                const std::vector<RooflinePanel>& panels, SeriesStyles& styles) {
  Figure figure;
  std::vector<std::vector<std::string>> rows;
  std::vector<std::string> headers = {"", detail, "flop/B", "GB/s", "Gflop/s", "of limit", "limit"};
  const bool is_pair = panels.size() > 1;
  if (is_pair) headers.insert(headers.begin(), "");
  std::string missing;
  for (const RooflinePanel& panel : panels) {
    if (panel.points.empty()) continue;
    figure.panels.push_back(
        panel_plot(is_pair ? title + ": " + panel.label : title, panel, styles));
    for (const RoofPoint& point : panel.points) {
      const auto [share, name] = limit(panel.roofs, point);
      std::vector<std::string> row = {point.name,
                                      point.detail,
                                      short_number(intensity(point)),
                                      short_number(point.gbytes_per_s),
                                      short_number(point.gflops_per_s),
                                      name.empty() ? "–" : fmt::format("{:.1f} %", 100.0 * share),
                                      name};
      if (is_pair) row.insert(row.begin(), panel.label);
      rows.push_back(std::move(row));
    }
    std::vector<std::string> absent;
    if (!panel.roofs.copy_gbytes_per_s) absent.emplace_back("the bandwidth of a copy");
    if (!panel.roofs.peak_gflops) absent.emplace_back("the peak rate of arithmetic");
    if (!absent.empty()) {
      missing += gap(fmt::format("{}{} was not measured: that roof is missing.",
                                 is_pair ? panel.label + ": " : "", fmt::join(absent, " or ")));
    }
  }
  if (figure.panels.empty()) return figure;
  share_axes(figure.panels);
  figure.note =
      "Each kernel by its least traffic and work, from the lowest to the highest degree. "
      "Above the copy's roof is what caches hold.";
  figure.table = missing + html_table(headers, rows);
  return figure;
}

}  // namespace tessera::report
