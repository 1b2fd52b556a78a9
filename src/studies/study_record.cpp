// This file prints the rows of a study.
#include "src/studies/study_record.hpp"

#include <algorithm>
#include <cmath>
#include <iostream>

#include "postprocess/files/text_table.hpp"
#include "src/machine/machine.hpp"

namespace tessera {
namespace {

constexpr std::size_t kMinWidth = 8;
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
      table_(study.layout) {}

void StudyRecord::print_headers() {
  columns_.clear();
  std::size_t longest = std::string_view("variant").size();
  for (const std::string& variant : study_.variants) longest = std::max(longest, variant.size());
  columns_.push_back({"variant", longest});
  const auto add_column = [this](const std::string& header) {
    columns_.push_back({header, std::max(header.size(), kMinWidth)});
  };
  const auto add_columns = [&](const std::vector<StudyColumn>& columns) {
    for (const StudyColumn& column : columns) {
      if (is_shown(column)) add_column(header_of(column));
    }
  };
  add_columns(study_.layout.parameters);
  if (!study_.layout.time_unit.empty()) {
    add_column("threads");
    for (const char* name : {"q1", "median", "q3"}) columns_.push_back({name, kTimeWidth});
    add_column("runs");
  }
  add_columns(study_.layout.metrics);
  std::vector<std::string> headers;
  headers.reserve(columns_.size());
  for (const ShownColumn& column : columns_) headers.push_back(column.header);
  if (!study_.layout.time_unit.empty()) {
    say("\n  times in {}\n", study_.layout.time_unit);
  } else if (has_header_) {
    say("\n");
  }
  print_cells(headers);
  has_header_ = true;
}

void StudyRecord::say_line(const std::string& text) {
  if (verbosity_ == Verbosity::normal) write_stdout(text);
}

void StudyRecord::print_cells(const std::vector<std::string>& cells) {
  std::string line = fmt::format("  {:<{}}", cells.front(), columns_.front().width);
  for (std::size_t i = 1; i < cells.size(); ++i) {
    const std::size_t width = i < columns_.size() ? columns_[i].width : 0;
    line += fmt::format("  {:>{}}", cells[i], width);
  }
  line.erase(line.find_last_not_of(' ') + 1);
  say_line(line + "\n");
}

std::vector<std::string> StudyRecord::shown_cells(const StudyRow& row) const {
  std::vector<std::string> cells = {row.variant};
  for (std::size_t i = 0; i < row.parameters.size(); ++i) {
    if (!is_shown(study_.layout.parameters[i])) continue;
    cells.push_back(row.parameters[i].empty() ? "-" : row.parameters[i]);
  }
  const bool is_timed = !study_.layout.time_unit.empty();
  if (is_timed) cells.push_back(std::to_string(row.threads));
  if (!row.not_measured.empty()) {
    cells.push_back("not measured: " + row.not_measured);
    return cells;
  }
  if (is_timed) {
    const Summary times = scaled(row.seconds, row.shown_per_second);
    for (const double time : {times.lower_quartile, times.median, times.upper_quartile}) {
      cells.push_back(times.count > 0 ? short_number(time) : "-");
    }
    cells.push_back(std::to_string(times.count));
  }
  for (std::size_t i = 0; i < row.metrics.size(); ++i) {
    if (is_shown(study_.layout.metrics[i])) cells.push_back(shown(row.metrics[i]));
  }
  if (row.correctness == Correctness::wrong) cells.push_back("WRONG: " + row.wrong);
  if (row.correctness == Correctness::wrong_by_design) cells.push_back("as meant: " + row.wrong);
  return cells;
}

void StudyRecord::show_status(const std::string& what) {
  if (verbosity_ == Verbosity::quiet || progress_mode(stderr) != ProgressMode::live) return;
  status_.emplace(std::cerr, ProgressMode::live, 0, seconds_now);
  status_->show("measuring " + what, seconds_now());
}

void StudyRecord::add(StudyRow row) {
  status_.reset();
  const bool is_new_part = std::exchange(part_, row.part) != row.part;
  if (!has_header_ || is_new_part) print_headers();
  print_cells(shown_cells(row));
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
