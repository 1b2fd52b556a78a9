// Errors on finer and finer meshes.
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

std::string rates_table(const ProblemRows& problem) {
  const std::vector<std::pair<const char*, const char*>> columns = {
      {"degree", "degree"}, {"cells", "cells"},           {"DoFs", "dofs"},
      {"h", "h"},           {"L2 error", "l2"},           {"rate", "rate_l2"},
      {"H1 error", "h1"},   {"rate", "rate_h1"},          {"max error", "max"},
      {"rate", "rate_max"}, {"iterations", "iterations"}, {"solve, s", "solve_s"},
      {"note", "note"}};
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

}  // namespace

void add_convergence(Page& page, const std::vector<const TableSource*>& tables,
                     SeriesStyles& styles) {
  if (tables.empty()) return;
  page.heading(2, "Convergence");
  for (const ProblemRows& problem : rows_by_problem(tables, problem_of)) {
    if (!problem.title.empty()) page.heading(3, problem.title);
    page.html(rates_table(problem));
    struct Norm {
      const char* title;
      const char* column;
      const char* rate;
    };
    for (const Norm& norm :
         {Norm{"Error in L2", "l2", "p + 1"}, Norm{"Error in the H1 seminorm", "h1", "p"},
          Norm{"Largest error at nodes", "max", "p + 1 or more"}}) {
      StudyPlot plot =
          error_plot(norm.title, problem.title, "error", "width h of the cells", "h", norm.column);
      plot.note = fmt::format(
          "Towards the left the cells get finer; a smooth solution's error falls with slope {}. "
          "Where a line turns flat, rounding has taken over.",
          norm.rate);
      add_figure(page, study_figure(plot, problem, styles));
    }
    StudyPlot cost = error_plot("Accuracy by time to solution", problem.title, "error in L2",
                                "seconds of a solve", "solve_s", "l2");
    cost.note = "Further down is more accurate, further left is faster.";
    add_figure(page, study_figure(cost, problem, styles));
  }
}

}  // namespace tessera::report
