// Runs side by side: their numbers, and their residuals in one plot.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "postprocess/files/human_units.hpp"
#include "postprocess/report/html.hpp"
#include "postprocess/report/runs/json_values.hpp"
#include "postprocess/report/sections.hpp"
#include "postprocess/report/studies/study_figure.hpp"

namespace tessera::report {
namespace {

constexpr std::size_t kMaxPoints = 400;
constexpr std::size_t kMaxRows = 25;

/// A number of result.json and how it is written.
struct Fact {
  const char* name;
  const char* pointer;
  std::string (*text)(double);
  // Where a run that went on says how much of it was done before, which its times are not of; null
  // where it does not say.
  const char* before = nullptr;
};

std::string plain(double value) { return fmt::format("{:.6g}", value); }
std::string scientific(double value) { return fmt::format("{:.3e}", value); }
std::string whole(double value) { return fmt::format("{:.0f}", value); }

const std::vector<Fact>& facts() {
  static const std::vector<Fact> kFacts = {
      {"degree", "/degree", whole},
      {"DoFs", "/dofs", whole},
      {"iterations", "/solver/iterations", whole, "/restart/linear_iterations"},
      {"relative residual", "/solver/relative_residual", scientific},
      {"set-up", "/timing/setup_s", human_seconds},
      {"solve", "/timing/solve_s", human_seconds},
      {"whole run", "/timing/total_s", human_seconds},
      {"operator's speed", "/timing/dofs_per_s", human_dofs_per_second},
      {"operator's GB/s", "/timing/gbytes_per_s", plain},
      {"operator's Gflop/s", "/timing/gflops_per_s", plain},
      {"operator's memory", "/memory/operator_bytes", human_bytes},
      {"peak memory", "/memory/peak_bytes", human_bytes},
      {"peak GPU memory", "/memory/peak_device_bytes", human_bytes},
      {"CPU energy", "/energy_use/cpu_j", human_joules},
      {"GPU energy", "/energy_use/gpu_j", human_joules},
      {"energy per DoF", "/energy_use/j_per_dof", human_joules},
      {"error, L2", "/error/l2", scientific},
      {"error, H1 seminorm", "/error/h1_seminorm", scientific},
      {"error, max", "/error/max", scientific},
      {"minimum", "/solution/min", plain},
      {"maximum", "/solution/max", plain}};
  return kFacts;
}

std::vector<std::string> comparison_row(const std::vector<RunSource>& runs, const Fact& fact) {
  std::vector<std::string> row = {fact.name};
  std::vector<std::optional<double>> values;
  for (const RunSource& run : runs) {
    values.push_back(number_at(run.result, fact.pointer));
    const auto before = fact.before != nullptr ? number_at(run.result, fact.before) : std::nullopt;
    if (values.back() && before) *values.back() -= *before;
    row.push_back(values.back() ? fact.text(*values.back()) : "–");
  }
  if (runs.size() == 2) {
    row.push_back(values[0] && values[1] && *values[0] > 0.0 && *values[1] > 0.0
                      ? short_number(*values[1] / *values[0])
                      : "");
  }
  return values == std::vector<std::optional<double>>(runs.size()) ? std::vector<std::string>()
                                                                   : row;
}

std::string comparison_table(const std::vector<RunSource>& runs) {
  std::vector<std::string> headers = {""};
  for (const RunSource& run : runs) headers.push_back(run.label);
  if (runs.size() == 2) headers.push_back(fmt::format("{} : {}", runs[1].label, runs[0].label));
  std::vector<std::vector<std::string>> rows;
  struct Text {
    const char* name;
    const char* pointer;
  };
  for (const Text& fact :
       {Text{"title", "/title"}, Text{"status", "/solver/status"}, Text{"operator", "/kernel"},
        Text{"scatter", "/scatter"}, Text{"preconditioner", "/solver/preconditioner"},
        Text{"device", "/device"}, Text{"precision", "/precision"}}) {
    std::vector<std::string> row = {fact.name};
    for (const RunSource& run : runs) {
      const std::string text = text_at(run.result, fact.pointer);
      row.push_back(run.result.is_null() ? "unfinished" : text.empty() ? "–" : text);
    }
    rows.push_back(std::move(row));
  }
  for (const Fact& fact : facts()) {
    std::vector<std::string> row = comparison_row(runs, fact);
    if (!row.empty()) rows.push_back(std::move(row));
  }
  return html_table(headers, rows);
}

std::vector<PlotPoint> history(const RunSource& run) {
  std::vector<PlotPoint> points;
  if (!run.residuals) return points;
  for (std::size_t i = 0; i < run.residuals->size(); ++i) {
    const auto iteration = run.residuals->number(i, "iteration");
    const auto residual = run.residuals->number(i, "relative_residual");
    if (iteration && residual) points.push_back({*iteration, *residual});
  }
  return points;
}

std::string history_table(const Plot& plot) {
  std::set<double> all;
  for (const Series& series : plot.series) {
    for (const PlotPoint& point : series.points) all.insert(point.x);
  }
  std::vector<PlotPoint> places;
  places.reserve(all.size());
  for (const double x : all) places.push_back({x, 0.0});
  std::vector<std::string> headers = {"iteration"};
  for (const Series& series : plot.series) headers.push_back(series.name);
  std::vector<std::vector<std::string>> rows;
  for (const PlotPoint& place : thinned(places, kMaxRows)) {
    std::vector<std::string> row = {fmt::format("{:g}", place.x)};
    for (const Series& series : plot.series) {
      const auto found = std::find_if(series.points.begin(), series.points.end(),
                                      [&](const PlotPoint& point) { return point.x == place.x; });
      row.push_back(found == series.points.end() ? "" : scientific(found->y));
    }
    rows.push_back(std::move(row));
  }
  return html_table(headers, rows);
}

Figure residual_figure(const std::vector<RunSource>& runs) {
  Plot plot{"Relative residual by iteration",
            {"iteration", Scale::counts, {}},
            {"relative residual", Scale::logarithmic, {}},
            {},
            {}};
  int color = 0;
  for (const RunSource& run : runs) {
    const std::vector<PlotPoint> points = thinned(history(run), kMaxPoints);
    if (!points.empty()) {
      plot.series.push_back(
          {run.label, points, color, color / 7, points.size() > 40 ? Marks::none : Marks::points});
    }
    ++color;
  }
  if (plot.series.empty()) return {};
  std::string table = history_table(plot);
  return {{std::move(plot)}, "", std::move(table)};
}

Figure time_figure(const std::vector<RunSource>& runs) {
  Plot plot{"Time to solution: set-up and solve", {"seconds", Scale::linear, {}}, {}, {}, {}};
  for (const RunSource& run : runs) {
    const auto setup = number_at(run.result, "/timing/setup_s");
    const auto solve = number_at(run.result, "/timing/solve_s");
    if (!setup || !solve) continue;
    plot.bars.push_back({run.label + ", set-up", *setup, human_seconds(*setup), 5});
    plot.bars.push_back({run.label + ", solve", *solve, human_seconds(*solve), 0});
  }
  if (plot.bars.empty()) return {};
  return {{std::move(plot)}, "The table above has the numbers.", ""};
}

Figure memory_figure(const std::vector<RunSource>& runs) {
  Plot plot{"Peak memory", {"MiB", Scale::linear, {}}, {}, {}, {}};
  for (const RunSource& run : runs) {
    const auto add = [&](const char* pointer, const std::string& name, int color) {
      const auto bytes = number_at(run.result, pointer);
      if (bytes)
        plot.bars.push_back({run.label + name, *bytes / 0x1p20, human_bytes(*bytes), color});
    };
    add("/memory/peak_bytes", "", 0);
    add("/memory/peak_device_bytes", ", GPU", 2);
  }
  if (plot.bars.empty()) return {};
  return {{std::move(plot)}, "Of the whole process. The table above has the numbers.", ""};
}

}  // namespace

void add_runs(Page& page, const std::vector<RunSource>& runs) {
  if (runs.empty()) return;
  if (runs.size() > 1) {
    page.heading(2, "Runs side by side");
    page.html(comparison_table(runs));
    add_figure(page, residual_figure(runs));
    add_figure(page, time_figure(runs));
    add_figure(page, memory_figure(runs));
  }
  for (const RunSource& run : runs) {
    const std::string title = text_at(run.result, "/title");
    page.heading(2, "Run " + run.label + (title.empty() ? "" : ": " + title));
    if (runs.size() == 1) page.html(comparison_table(runs));
    add_run(page, run, runs.size() == 1 ? residual_figure(runs) : Figure());
  }
}

}  // namespace tessera::report
