// Strategies side by side.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "postprocess/report/sections.hpp"
#include "postprocess/report/studies/roofline.hpp"
#include "postprocess/report/studies/study_figure.hpp"

namespace tessera::report {
namespace {

constexpr std::size_t kMinSizes = 3;

std::string strategy_of(const RowRef& row) {
  std::string name = row.text("kernel");
  for (const char* column : {"scatter", "geometry_form"}) {
    const std::string part = row.text(column);
    if (!part.empty() && part != "none") name += "/" + part;
  }
  return name;
}

// What has numbers that may be compared: a bound that is wrong by design has, a bug has not.
bool counts(const RowRef& row) {
  const std::string outcome = row.text("outcome");
  return outcome == "agrees" || outcome == "wrong by design";
}

std::optional<double> counted(const RowRef& row, const char* column, double factor) {
  const auto value = row.number(column);
  return value && counts(row) && *value > 0.0 ? std::optional(*value * factor) : std::nullopt;
}

std::optional<double> bytes_per_dof(const RowRef& row) {
  const auto bytes = counted(row, "operator_bytes", 1.0);
  const auto dofs = row.number("dofs");
  return bytes && dofs && *dofs > 0.0 ? std::optional(*bytes / *dofs) : std::nullopt;
}

// The rows of the largest problem of each degree and dimension, of each source.
ProblemRows largest(const ProblemRows& problem) {
  ProblemRows result{problem.title, {}};
  for (const PanelRows& panel : problem.panels) {
    std::map<std::string, double> most;
    for (const RowRef& row : panel.rows) {
      if (!counts(row)) continue;
      double& dofs = most[row.text("degree")];
      dofs = std::max(dofs, row.number("dofs").value_or(0.0));
    }
    PanelRows kept{panel.label, {}};
    for (const RowRef& row : panel.rows) {
      if (row.number("dofs").value_or(0.0) == most[row.text("degree")]) kept.rows.push_back(row);
    }
    result.panels.push_back(std::move(kept));
  }
  return result;
}

ProblemRows of_degree(const ProblemRows& problem, const std::string& degree) {
  ProblemRows result{problem.title, {}};
  for (const PanelRows& panel : problem.panels) {
    PanelRows kept{panel.label, {}};
    for (const RowRef& row : panel.rows) {
      if (row.text("degree") == degree) kept.rows.push_back(row);
    }
    result.panels.push_back(std::move(kept));
  }
  return result;
}

// Of whole numbers.
struct BySize {
  bool operator()(const std::string& a, const std::string& b) const {
    return a.size() != b.size() ? a.size() < b.size() : a < b;
  }
};

std::set<std::string, BySize> texts(const ProblemRows& problem, const char* column) {
  std::set<std::string, BySize> texts;
  for (const PanelRows& panel : problem.panels) {
    for (const RowRef& row : panel.rows) texts.insert(row.text(column));
  }
  return texts;
}

bool has_transfers(const ProblemRows& problem) {
  return std::any_of(problem.panels.begin(), problem.panels.end(), [](const PanelRows& panel) {
    return std::any_of(panel.rows.begin(), panel.rows.end(), [](const RowRef& row) {
      return row.number("useful_gflops_per_s_with_transfers").value_or(0.0) > 0.0;
    });
  });
}

struct Quantity {
  std::string title;
  std::string label;
  std::function<std::optional<double>(const RowRef&)> of;
  std::string note;
};

Quantity speed() {
  return {"Speed", "million DoFs per second",
          [](const RowRef& row) { return counted(row, "dofs_per_s", 1e-6); },
          "An application of the operator, the fastest of all repetitions."};
}

Quantity useful() {
  return {"Useful Gflop/s with transfers", "useful Gflop/s",
          [](const RowRef& row) {
            // A CPU has no transfers.
            const auto with = counted(row, "useful_gflops_per_s_with_transfers", 1.0);
            return with ? with : counted(row, "useful_gflops_per_s", 1.0);
          },
          "Two operations for each entry of the assembled matrix, whatever a strategy computes; on "
          "a GPU the time includes the copies of x and y between it and the host, once in all "
          "applications of a repetition."};
}

StudyPlot by_degree(const Quantity& quantity, const std::string& problem) {
  StudyPlot plot;
  plot.title = fmt::format("{} by degree, {}", quantity.title, problem);
  plot.x = {"degree", Scale::counts, {}};
  plot.y = {quantity.label, Scale::logarithmic, {}};
  plot.x_of = [](const RowRef& row) { return row.number("degree"); };
  plot.y_of = quantity.of;
  plot.name_of = strategy_of;
  plot.note = quantity.note;
  return plot;
}

StudyPlot by_size(const Quantity& quantity, const std::string& degree, const std::string& problem) {
  StudyPlot plot = by_degree(quantity, problem);
  plot.title = fmt::format("{} by size, degree {}, {}", quantity.title, degree, problem);
  plot.x = {"million DoFs", Scale::logarithmic, {}};
  plot.x_of = [](const RowRef& row) { return counted(row, "dofs", 1e-6); };
  return plot;
}

StudyPlot memory(const std::string& problem) {
  return by_degree({"Memory", "bytes per DoF", bytes_per_dof,
                    "What the strategy holds beside vectors and mesh."},
                   problem);
}

StudyPlot set_up(const std::string& problem) {
  return by_degree(
      {"Set-up", "seconds", [](const RowRef& row) { return counted(row, "setup_s", 1.0); },
       "Time to make the operator."},
      problem);
}

Figure roofline_of(const ProblemRows& problem, SeriesStyles& styles) {
  std::vector<RooflinePanel> panels;
  for (const PanelRows& rows : problem.panels) {
    RooflinePanel panel{rows.label, {}, {}};
    for (const RowRef& row : rows.rows) {
      const auto keep = [&](std::optional<double>& roof, const char* column) {
        if (const auto value = counted(row, column, 1.0)) roof = value;
      };
      keep(panel.roofs.copy_gbytes_per_s, "copy_gbytes_per_s");
      keep(panel.roofs.cache_gbytes_per_s, "cache_gbytes_per_s");
      keep(panel.roofs.peak_gflops,
           row.text("precision") == "single" ? "peak_gflops_single" : "peak_gflops");
      const auto bytes = counted(row, "gbytes_per_s", 1.0);
      const auto flops = counted(row, "gflops_per_s", 1.0);
      if (!bytes || !flops) continue;
      panel.points.push_back({strategy_of(row), row.text("degree"), *bytes, *flops,
                              row.text("limit"), row.number("limit_share")});
    }
    panels.push_back(std::move(panel));
  }
  return roofline("Roofline, " + problem.title, "degree", panels, styles);
}

std::string problem_of(const RowRef& row, const std::set<const CsvTable*>& with_threads) {
  std::string title = fmt::format("{}D, {}, {}", row.text("dimension"), row.text("geometry"),
                                  row.text("precision"));
  if (with_threads.contains(row.table)) {
    title += fmt::format(", {} threads", row.text("threads"));
  }
  return title + ranks_of(row);
}

// Threads tell problems apart where a study varies them, not where machines differ in them.
std::set<const CsvTable*> tables_with_threads(const std::vector<const TableSource*>& tables) {
  std::set<const CsvTable*> result;
  for (const TableSource* source : tables) {
    for (std::size_t i = 1; i < source->table.size(); ++i) {
      if (source->table.text(i, "threads") != source->table.text(0, "threads")) {
        result.insert(&source->table);
      }
    }
  }
  return result;
}

void add_sizes(Page& page, const ProblemRows& problem, const Quantity& quantity,
               SeriesStyles& styles) {
  for (const std::string& degree : texts(problem, "degree")) {
    const ProblemRows rows = of_degree(problem, degree);
    if (texts(rows, "dofs").size() < kMinSizes) continue;
    add_figure(page, study_figure(by_size(quantity, degree, problem.title), rows, styles));
  }
}

}  // namespace

void add_operators(Page& page, const std::vector<const TableSource*>& tables,
                   SeriesStyles& styles) {
  if (tables.empty()) return;
  page.heading(2, "Strategies side by side");
  const std::set<const CsvTable*> with_threads = tables_with_threads(tables);
  for (const ProblemRows& problem :
       rows_by_problem(tables, [&](const RowRef& row) { return problem_of(row, with_threads); })) {
    page.heading(3, problem.title);
    const ProblemRows most = largest(problem);
    add_figure(page, study_figure(by_degree(speed(), problem.title), most, styles));
    if (has_transfers(problem)) {
      add_figure(page, study_figure(by_degree(useful(), problem.title), most, styles));
      add_sizes(page, problem, useful(), styles);
    } else {
      add_sizes(page, problem, speed(), styles);
    }
    add_figure(page, roofline_of(most, styles));
    add_figure(page, study_figure(memory(problem.title), most, styles));
    add_figure(page, study_figure(set_up(problem.title), most, styles));
  }
}

}  // namespace tessera::report
