// Solvers side by side.
#include <fmt/format.h>

#include <algorithm>

#include "postprocess/report/html.hpp"
#include "postprocess/report/sections.hpp"
#include "postprocess/report/studies/study_figure.hpp"

namespace tessera::report {
namespace {

// A solve that diverged or stopped at its limit has no time to solution.
bool is_solved(const RowRef& row) { return row.text("outcome") == "converged"; }

std::optional<double> time_to_solution(const RowRef& row) {
  const auto setup = row.number("setup_s");
  const auto solve = row.number("min_s");
  const bool has_time = is_solved(row) || row.text("outcome").starts_with("start");
  return setup && solve && has_time ? std::optional(*setup + *solve) : std::nullopt;
}

StudyPlot by_size(const std::string& title, const std::string& problem, const Axis& y) {
  StudyPlot plot;
  plot.title = fmt::format("{}, {}", title, problem);
  plot.x = {"million DoFs", Scale::logarithmic, {}};
  plot.y = y;
  plot.x_of = [](const RowRef& row) {
    const auto dofs = row.number("dofs");
    return dofs && *dofs > 0.0 ? std::optional(*dofs * 1e-6) : std::nullopt;
  };
  plot.name_of = [](const RowRef& row) { return row.text("solver"); };
  return plot;
}

std::string problem_of(const RowRef& row) {
  return fmt::format("{}D, {}, degree {}, {}", row.text("dimension"), row.text("geometry"),
                     row.text("degree"), row.text("precision")) +
         ranks_of(row);
}

bool has_energy(const ProblemRows& problem) {
  return std::any_of(problem.panels.begin(), problem.panels.end(), [](const PanelRows& panel) {
    return std::any_of(panel.rows.begin(), panel.rows.end(),
                       [](const RowRef& row) { return row.number("j_per_dof").has_value(); });
  });
}

std::string left_out(const ProblemRows& problem) {
  std::string names;
  for (const PanelRows& panel : problem.panels) {
    for (const RowRef& row : panel.rows) {
      if (time_to_solution(row)) continue;
      names += fmt::format("{}{} ({} DoFs): {}", names.empty() ? "" : "; ", row.text("solver"),
                           row.text("dofs"), row.text("outcome"));
    }
  }
  return names;
}

}  // namespace

void add_solvers(Page& page, const std::vector<const TableSource*>& tables, SeriesStyles& styles) {
  if (tables.empty()) return;
  page.heading(2, "Solvers side by side");
  for (const ProblemRows& problem : rows_by_problem(tables, problem_of)) {
    page.heading(3, problem.title);
    if (const std::string names = left_out(problem); !names.empty()) {
      page.html(gap("Not solved: " + names + "."));
    }
    if (!has_energy(problem)) page.html(gap("Energy was not measured."));
    StudyPlot time =
        by_size("Time to solution by size", problem.title, {"seconds", Scale::logarithmic, {}});
    time.y_of = time_to_solution;
    time.note =
        "Making the preconditioner and one solve, the fastest of all repetitions; without making "
        "the operator. Full multigrid alone ends at the discretization's error.";
    add_figure(page, study_figure(time, problem, styles));
    StudyPlot iterations =
        by_size("Iterations by size", problem.title, {"iterations", Scale::linear, {{0.0, 1.0}}});
    iterations.y_of = [](const RowRef& row) {
      return is_solved(row) ? row.number("iterations") : std::nullopt;
    };
    add_figure(page, study_figure(iterations, problem, styles));
    StudyPlot energy =
        by_size("Energy by size", problem.title, {"joules per DoF", Scale::logarithmic, {}});
    energy.y_of = [](const RowRef& row) { return row.number("j_per_dof"); };
    energy.note = "One solve, of whole devices: CPU packages and the GPU in use.";
    add_figure(page, study_figure(energy, problem, styles));
  }
}

}  // namespace tessera::report
