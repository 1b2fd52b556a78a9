// A StudyRecord prints and keeps what a study measures.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "postprocess/files/progress_line.hpp"
#include "src/commands/standard_streams.hpp"
#include "src/parameters/command_line.hpp"
#include "src/studies/studies.hpp"

namespace tessera {

/// What a study says and measures: lines, the table on the screen, which grows row by row, and the
/// CSV file with the same rows.
class StudyRecord {
 public:
  /// Both are referred to. @param machine that is measured
  StudyRecord(const StudyInfo& study, StudyOptions options, std::string machine,
              Verbosity verbosity);

  const StudyOptions& options() const { return options_; }
  const std::string& machine() const { return machine_; }
  const StudyTable& table() const { return table_; }

  /// Prints, unless the command is to be quiet.
  template <class... Arguments>
  void say(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
    say_line(fmt::format(format, std::forward<Arguments>(arguments)...));
  }

  /// Shows on a terminal what is being measured; the next row ends it.
  void show_status(const std::string& what);
  /// Adds a row to the table and prints it; the first one of a part prints the headers.
  /// @throws std::invalid_argument as StudyTable::add()
  void add(StudyRow row);
  /// Rows whose result is wrong though it must not be.
  int wrong_rows() const { return wrong_rows_; }
  /// The CSV file's header and rows.
  std::string csv() const;

 private:
  struct ShownColumn {
    std::string header;
    std::size_t width;
  };
  /// Whether a column is of the part whose rows are being added.
  bool is_shown(const StudyColumn& column) const {
    return column.place == StudyColumn::Place::screen_and_file &&
           (column.parts.empty() ||
            std::find(column.parts.begin(), column.parts.end(), part_) != column.parts.end());
  }
  void print_headers();

  void say_line(const std::string& text);
  void print_cells(const std::vector<std::string>& cells);
  std::vector<std::string> shown_cells(const StudyRow& row) const;

  const StudyInfo& study_;
  StudyOptions options_;
  std::string machine_;
  Verbosity verbosity_;
  StudyTable table_;
  std::vector<ShownColumn> columns_;
  std::optional<ProgressLine> status_;
  bool has_header_ = false;
  std::string part_;
  int wrong_rows_ = 0;
};

}  // namespace tessera
