// A CsvTable is a CSV file of Tessera, read back.
#pragma once

#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tessera::report {

/// An input that is not what a report is made of; one line that names it.
class BadInput : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Text whose bytes may be put into a page: valid UTF-8 without control characters but tab and
/// newline; what is not valid becomes the replacement character.
std::string clean_text(std::string_view text);

/// A CSV file (RFC 4180) whose lines at the beginning may be comments: "# Tessera VERSION" first,
/// then "# key: value". Cells are clean_text().
class CsvTable {
 public:
  CsvTable() = default;
  /// @throws BadInput "NAME: ..." if there is no header, a quote is not closed, or a row has
  ///         another number of cells than the header
  CsvTable(const std::string& name, std::string_view text);

  /// Whether the first comment says that Tessera wrote it.
  bool names_tessera() const { return !comments_.empty() && comments_.front().second.empty(); }
  /// Key and value of each comment; of the first, the whole line and nothing.
  const std::vector<std::pair<std::string, std::string>>& comments() const { return comments_; }
  /// Of a comment; empty if there is none.
  std::string comment(std::string_view key) const;

  const std::vector<std::string>& columns() const { return columns_; }
  bool has(std::string_view column) const { return index_of(column).has_value(); }
  bool has_all(const std::vector<std::string>& columns) const;
  std::size_t size() const { return rows_.size(); }
  const std::vector<std::string>& row(std::size_t i) const { return rows_[i]; }
  /// Empty if there is no such column.
  std::string text(std::size_t row, std::string_view column) const;
  /// Absent if there is no such column, or no finite number in the cell.
  std::optional<double> number(std::size_t row, std::string_view column) const;

 private:
  std::optional<std::size_t> index_of(std::string_view column) const;

  std::vector<std::pair<std::string, std::string>> comments_;
  std::vector<std::string> columns_;
  std::vector<std::vector<std::string>> rows_;
};

/// A whole text as a finite number.
std::optional<double> number_of(std::string_view text);

}  // namespace tessera::report
