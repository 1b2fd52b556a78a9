// Errors on finer and finer meshes, and with shorter and shorter steps.
#include <fmt/format.h>

#include "postprocess/report/html.hpp"
#include "postprocess/report/sections.hpp"
#include "postprocess/report/studies/study_figure.hpp"

namespace tessera::report {
namespace {

std::optional<double> positive(const RowRef& row, std::string_view column) {
  const auto value = row.number(column);
  return value && *value > 0.0 ? value : std::nullopt;
}

StudyPlot error_plot(const std::string& title, const std::string& problem, const std::string& y,
                     const char* x_label, const char* x_column, const char* y_column) {
  StudyPlot plot;
  plot.title = fmt::format("{}, {}", title, problem);
  plot.x = {x_label, Scale::logarithmic, {}};
  plot.y = {y, Scale::logarithmic, {}};
  plot.x_of = [x_column](const RowRef& row) { return positive(row, x_column); };
  plot.y_of = [y_column](const RowRef& row) { return positive(row, y_column); };
  plot.name_of = [](const RowRef& row) { return "degree " + row.text("degree"); };
  return plot;
}

struct Norm {
  const char* title;
  const char* column;
  const char* slope;
};

/// What gets finer, and what a page shows of it.
struct Refinement {
  const char* heading;
  /// Of the table: header and column.
  std::vector<std::pair<const char*, const char*>> columns;
  const char* x_label;
  const char* x_column;
  std::vector<Norm> norms;
  /// With the slope.
  const char* note;
};

const Refinement& refinement_in_space() {
  static const Refinement kInSpace = {
      "Convergence",
      {{"degree", "degree"},
       {"cells", "cells"},
       {"DoFs", "dofs"},
       {"h", "h"},
       {"L2 error", "l2"},
       {"rate", "rate_l2"},
       {"H1 error", "h1"},
       {"rate", "rate_h1"},
       {"max error", "max"},
       {"rate", "rate_max"},
       {"iterations", "iterations"},
       {"solve, s", "solve_s"},
       {"note", "note"}},
      "width h of the cells",
      "h",
      {{"Error in L2", "l2", "p + 1"},
       {"Error in the H1 seminorm", "h1", "p"},
       {"Largest error at nodes", "max", "p + 1 or more"}},
      "Towards the left the cells get finer; a smooth solution's error falls with slope {}. "
      "Where a line turns flat, rounding has taken over."};
  return kInSpace;
}

const Refinement& refinement_in_time() {
  static const Refinement kInTime = {
      "Convergence in time",
      {{"degree", "degree"},
       {"DoFs", "dofs"},
       {"method", "method"},
       {"order", "order"},
       {"step", "step"},
       {"tolerance", "tolerance"},
       {"steps", "steps"},
       {"L2 error", "l2"},
       {"rate", "rate_l2"},
       {"H1 error", "h1"},
       {"rate", "rate_h1"},
       {"largest in L2", "largest_l2"},
       {"rate", "rate_largest_l2"},
       {"iterations", "iterations"},
       {"solve, s", "solve_s"},
       {"note", "note"}},
      "length of the steps, in the mean",
      "step",
      {{"Error in L2 at the end", "l2", "the method's order"},
       {"Error in the H1 seminorm at the end", "h1", "the method's order"},
       {"Largest error in L2 of the outputs", "largest_l2", "the method's order"}},
      "Towards the left the steps get shorter; the slope of a line is {}. Where it turns flat, the "
      "error in space or rounding has taken over."};
  return kInTime;
}

std::string rates_table(const ProblemRows& problem,
                        const std::vector<std::pair<const char*, const char*>>& columns) {
  std::vector<std::string> headers;
  if (problem.panels.size() > 1) headers.emplace_back();
  for (const auto& [header, column] : columns) headers.emplace_back(header);
  std::vector<std::vector<std::string>> rows;
  for (const PanelRows& panel : problem.panels) {
    for (const RowRef& row : panel.rows) {
      std::vector<std::string> cells;
      if (problem.panels.size() > 1) cells.push_back(panel.label);
      for (const auto& [header, column] : columns) {
        const auto number = row.number(column);
        cells.push_back(number ? short_number(*number) : row.text(column));
      }
      rows.push_back(std::move(cells));
    }
  }
  return html_table(headers, rows);
}

std::string problem_of(const RowRef& row) {
  const std::string title = row.table->comment("title");
  const std::string dimension = row.text("dimension");
  return (title.empty() ? "" : title + ", ") + (dimension.empty() ? "" : dimension + "D");
}

void add_refinement(Page& page, const std::vector<const TableSource*>& tables,
                    const Refinement& finer, SeriesStyles& styles) {
  if (tables.empty()) return;
  page.heading(2, finer.heading);
  for (const ProblemRows& problem : rows_by_problem(tables, problem_of)) {
    if (!problem.title.empty()) page.heading(3, problem.title);
    page.html(rates_table(problem, finer.columns));
    for (const Norm& norm : finer.norms) {
      StudyPlot plot = error_plot(norm.title, problem.title, "error", finer.x_label, finer.x_column,
                                  norm.column);
      plot.note = fmt::format(fmt::runtime(finer.note), norm.slope);
      add_figure(page, study_figure(plot, problem, styles));
    }
    StudyPlot cost = error_plot("Accuracy by time to solution", problem.title, "error in L2",
                                "seconds of a solve", "solve_s", "l2");
    cost.note = "Further down is more accurate, further left is faster.";
    add_figure(page, study_figure(cost, problem, styles));
  }
}

}  // namespace

void add_convergence(Page& page, const std::vector<const TableSource*>& tables,
                     SeriesStyles& styles) {
  add_refinement(page, tables, refinement_in_space(), styles);
}

void add_convergence_in_time(Page& page, const std::vector<const TableSource*>& tables,
                             SeriesStyles& styles) {
  add_refinement(page, tables, refinement_in_time(), styles);
}

}  // namespace tessera::report
