// This file looks rows up and writes them as CSV.
#include "src/studies/study_table.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace tessera {
namespace {

std::string number_text(double number) { return fmt::format("{:.6g}", number); }

std::string row_name(const std::string& variant, int threads,
                     const std::vector<std::string>& parameters, const StudyLayout& layout) {
  std::string name = variant;
  for (std::size_t i = 0; i < parameters.size() && i < layout.parameters.size(); ++i) {
    if (!parameters[i].empty()) {
      name += fmt::format(", {} {}", layout.parameters[i].name, parameters[i]);
    }
  }
  return fmt::format("{}, {} thread{}", name, threads, threads == 1 ? "" : "s");
}

std::size_t place_of(const std::vector<StudyColumn>& columns, const std::string& name) {
  const auto column = std::find_if(columns.begin(), columns.end(),
                                   [&](const StudyColumn& each) { return each.name == name; });
  if (column == columns.end()) throw std::invalid_argument("no column " + name);
  return static_cast<std::size_t>(column - columns.begin());
}

template <class Cell>
std::vector<Cell> placed(const std::vector<StudyColumn>& columns,
                         const std::vector<std::pair<std::string, Cell>>& values) {
  std::vector<Cell> cells(columns.size());
  for (const auto& [name, value] : values) cells[place_of(columns, name)] = value;
  return cells;
}

}  // namespace

std::vector<StudyCell> cells_in(const std::vector<StudyColumn>& columns,
                                const std::vector<std::pair<std::string, StudyCell>>& values) {
  return placed(columns, values);
}

std::vector<std::string> texts_in(const std::vector<StudyColumn>& columns,
                                  const std::vector<std::pair<std::string, std::string>>& values) {
  return placed(columns, values);
}

void StudyTable::add(StudyRow row) {
  const bool has_metrics = row.not_measured.empty() || !row.metrics.empty();
  if (row.parameters.size() != layout_.parameters.size() ||
      (has_metrics && row.metrics.size() != layout_.metrics.size())) {
    throw std::invalid_argument(fmt::format("a row of {} with {} parameters and {} metrics",
                                            row.variant, row.parameters.size(),
                                            row.metrics.size()));
  }
  rows_.push_back(std::move(row));
}

const StudyRow& StudyTable::at(const std::string& variant, int threads,
                               const std::vector<std::string>& parameters) const {
  const auto found = std::find_if(rows_.begin(), rows_.end(), [&](const StudyRow& row) {
    return row.variant == variant && row.threads == threads && row.parameters == parameters;
  });
  if (found == rows_.end()) {
    throw NotMeasured("no row of " + row_name(variant, threads, parameters, layout_));
  }
  if (!found->not_measured.empty()) throw NotMeasured(found->not_measured);
  return *found;
}

double StudyTable::metric(const StudyRow& row, const std::string& name) const {
  if (!row.not_measured.empty()) throw NotMeasured(row.not_measured);
  const auto* number = std::get_if<double>(&row.metrics.at(place_of(layout_.metrics, name)));
  if (number == nullptr) {
    throw NotMeasured(fmt::format("no {} of {}", name,
                                  row_name(row.variant, row.threads, row.parameters, layout_)));
  }
  return *number;
}

StudyCell StudyTable::times_faster(const std::string& than, const StudyRow& row) const {
  if (than == row.variant && row.threads == 1) return 1.0;
  try {
    return at(than, 1, row.parameters).seconds.median / row.seconds.median;
  } catch (const NotMeasured&) {
    return {};
  }
}

int StudyTable::max_threads() const {
  int most = 0;
  for (const StudyRow& row : rows_) {
    if (row.not_measured.empty()) most = std::max(most, row.threads);
  }
  if (most == 0) throw NotMeasured("no row was measured");
  return most;
}

std::string lost_text(double share) {
  return fmt::format("{:.3g} % of the additions lost", 100.0 * share);
}

std::string csv_text(const StudyCell& cell) {
  if (const auto* number = std::get_if<double>(&cell)) return number_text(*number);
  const auto* text = std::get_if<std::string>(&cell);
  return text != nullptr ? *text : std::string();
}

std::vector<std::string> csv_header(const StudyLayout& layout) {
  std::vector<std::string> header = {"study", "variant", "device", "machine", "threads"};
  for (const StudyColumn& column : layout.parameters) header.push_back(column.name);
  for (const char* name : {"runs", "median_s", "q1_s", "q3_s", "min_s"}) header.emplace_back(name);
  for (const StudyColumn& column : layout.metrics) header.push_back(column.name);
  header.emplace_back("wrong");
  return header;
}

std::vector<std::string> csv_cells(const StudyRow& row, const StudyLayout& layout,
                                   const std::string& study, const std::string& device,
                                   const std::string& machine) {
  std::vector<std::string> cells = {study, row.variant, device, machine,
                                    std::to_string(row.threads)};
  cells.insert(cells.end(), row.parameters.begin(), row.parameters.end());
  const Summary& seconds = row.seconds;
  cells.push_back(std::to_string(seconds.count));
  for (const double value :
       {seconds.median, seconds.lower_quartile, seconds.upper_quartile, seconds.minimum}) {
    cells.push_back(seconds.count > 0 ? number_text(value) : std::string());
  }
  for (std::size_t i = 0; i < layout.metrics.size(); ++i) {
    cells.push_back(i < row.metrics.size() ? csv_text(row.metrics[i]) : std::string());
  }
  cells.push_back(!row.not_measured.empty()               ? "not measured: " + row.not_measured
                  : row.correctness == Correctness::right ? "no"
                                                          : row.wrong);
  return cells;
}

}  // namespace tessera
