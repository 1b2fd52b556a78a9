// This file prints the rows of a study.
#include "src/studies/study_record.hpp"

#include <algorithm>
#include <cmath>
#include <iostream>

#include "postprocess/files/text_table.hpp"
#include "src/machine/machine.hpp"

namespace tessera {
namespace {

constexpr std::size_t kLeastWidth = 8;
constexpr std::size_t kTimeWidth = 9;

// Four digits, as a table has room for.
std::string short_number(double number) {
  if (number == 0.0) return "0";
  const double size = std::abs(number);
  if (size >= 1e7 || size < 1e-3) return fmt::format("{:.3g}", number);
  const int digits = size >= 1000.0 ? 0 : size >= 100.0 ? 1 : size >= 1.0 ? 2 : 4;
  // Whole numbers are counts.
  return std::floor(number) == number ? fmt::format("{:.0f}", number)
                                      : fmt::format("{:.{}f}", number, digits);
}

std::string shown(const StudyCell& cell) {
  if (const auto* number = std::get_if<double>(&cell)) return short_number(*number);
  const auto* text = std::get_if<std::string>(&cell);
  return text != nullptr ? *text : "-";
}

std::string header_of(const StudyColumn& column) {
  return column.header.empty() ? column.name : column.header;
}

std::string device_name(Processor processor) {
  return processor == Processor::gpu ? "cuda" : "cpu";
}

}  // namespace

StudyRecord::StudyRecord(const StudyInfo& study, StudyOptions options, std::string machine,
                         Verbosity verbosity)
    : study_(study),
      options_(std::move(options)),
      machine_(std::move(machine)),
      verbosity_(verbosity),
      table_(study.layout) {
  std::size_t longest = std::string_view("variant").size();
  for (const std::string& variant : study.variants) longest = std::max(longest, variant.size());
  columns_.push_back({"variant", longest});
  const auto add_column = [this](const StudyColumn& column) {
    const std::string header = header_of(column);
    columns_.push_back({header, std::max(header.size(), kLeastWidth), column.part, column.place});
    has_parts_ = has_parts_ || !column.part.empty();
  };
  for (const StudyColumn& column : study.layout.parameters) add_column(column);
  if (!study.layout.time_unit.empty()) {
    add_column({"threads"});
    for (const char* name : {"q1", "median", "q3"}) columns_.push_back({name, kTimeWidth});
    add_column({"runs"});
  }
  for (const StudyColumn& column : study.layout.metrics) add_column(column);
}

void StudyRecord::say_line(const std::string& text) {
  if (verbosity_ == Verbosity::normal) write_stdout(text);
}

void StudyRecord::print_headers() {
  ShownRow headers;
  headers.cells.reserve(columns_.size());
  for (const ShownColumn& column : columns_) headers.cells.push_back(column.header);
  if (!study_.layout.time_unit.empty()) say("\n  times in {}\n", study_.layout.time_unit);
  print_row(headers);
}

void StudyRecord::print_row(const ShownRow& row) {
  std::string line = fmt::format("  {:<{}}", row.cells.front(), columns_.front().width);
  for (std::size_t i = 1; i < row.cells.size(); ++i) {
    const ShownColumn& column = columns_[i];
    const bool is_here = column.part.empty() || column.part == part_;
    if (!is_here || column.place == StudyColumn::Place::file) continue;
    line += fmt::format("  {:>{}}", row.cells[i], column.width);
  }
  if (!row.remark.empty()) line += "  " + row.remark;
  line.erase(line.find_last_not_of(' ') + 1);
  say_line(line + "\n");
}

StudyRecord::ShownRow StudyRecord::shown_row(const StudyRow& row) const {
  std::vector<std::string> cells = {row.variant};
  for (const std::string& parameter : row.parameters) {
    cells.push_back(parameter.empty() ? "-" : parameter);
  }
  const bool is_timed = !study_.layout.time_unit.empty();
  if (is_timed) cells.push_back(std::to_string(row.threads));
  if (!row.not_measured.empty()) {
    return {.cells = std::move(cells), .remark = "not measured: " + row.not_measured};
  }
  if (is_timed) {
    const Summary times = scaled(row.seconds, row.shown_per_second);
    for (const double time : {times.lower_quartile, times.median, times.upper_quartile}) {
      cells.push_back(times.count > 0 ? short_number(time) : "-");
    }
    cells.push_back(std::to_string(times.count));
  }
  for (const StudyCell& metric : row.metrics) cells.push_back(shown(metric));
  std::string remark;
  if (row.correctness == Correctness::wrong) remark = "WRONG: " + row.wrong;
  if (row.correctness == Correctness::wrong_by_design) remark = "as meant: " + row.wrong;
  return {.cells = std::move(cells), .remark = std::move(remark)};
}

void StudyRecord::show_status(const std::string& what) {
  if (verbosity_ == Verbosity::quiet || progress_mode(stderr) != ProgressMode::live) return;
  status_.emplace(std::cerr, ProgressMode::live, 0, seconds_now);
  status_->show("measuring " + what, seconds_now());
}

void StudyRecord::add(StudyRow row) {
  status_.reset();
  const std::string part = has_parts_ ? row.parameters.at(0) : "";
  if (!has_header_ || part != part_) {
    part_ = part;
    print_headers();
    has_header_ = true;
  }
  print_row(shown_row(row));
  if (row.not_measured.empty() && row.correctness == Correctness::wrong) ++wrong_rows_;
  table_.add(std::move(row));
}

std::string StudyRecord::csv() const {
  std::string text = csv_line(csv_header(study_.layout));
  for (const StudyRow& row : table_.rows()) {
    const Processor processor = row.processor.value_or(options_.processor);
    const std::string machine =
        processor == options_.processor ? machine_ : describe_machine().cpu_model;
    text += csv_line(csv_cells(row, study_.layout, study_.name, device_name(processor), machine));
  }
  return text;
}

}  // namespace tessera
