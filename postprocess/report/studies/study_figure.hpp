// Figures of measurements that several machines may have made.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "postprocess/report/page.hpp"
#include "postprocess/report/plots/series_styles.hpp"
#include "postprocess/report/sources.hpp"

namespace tessera::report {

/// A row of a table.
struct RowRef {
  const CsvTable* table = nullptr;
  std::size_t index = 0;
  std::string text(std::string_view column) const { return table->text(index, column); }
  std::optional<double> number(std::string_view column) const {
    return table->number(index, column);
  }
};

/// The rows that one source has of a problem.
struct PanelRows {
  std::string label = {};
  std::vector<RowRef> rows = {};
};

/// Rows of the same problem, from one source or more.
struct ProblemRows {
  std::string title = {};
  std::vector<PanelRows> panels = {};
};

/// Rows by problem, in the order in which problems come up.
std::vector<ProblemRows> rows_by_problem(const std::vector<const TableSource*>& sources,
                                         const std::function<std::string(const RowRef&)>& problem);

/// What a plot over a problem's rows shows; rows without both numbers are left out.
struct StudyPlot {
  std::string title = {};
  Axis x = {};
  Axis y = {};
  std::function<std::optional<double>(const RowRef&)> x_of = {};
  std::function<std::optional<double>(const RowRef&)> y_of = {};
  std::function<std::string(const RowRef&)> name_of = {};
  std::string note = {};
};

/// A panel a source, on the same axes, and the table: series by x, or for two sources a row a point
/// with both values and their ratio. Bars if there is only one x. No panels if there is nothing to
/// show.
Figure study_figure(const StudyPlot& plot, const ProblemRows& problem, SeriesStyles& styles);

/// Adds the figure if it shows something.
void add_figure(Page& page, Figure figure);

/// Three significant digits.
std::string short_number(double value);
/// The same; a dash if absent.
std::string short_number(const std::optional<double>& value);

/// ", 4 ranks"; empty for one.
std::string ranks_of(const RowRef& row);

}  // namespace tessera::report
