// A TextTable aligns text in columns.
#pragma once

#include <string>
#include <vector>

namespace tessera {

enum class Align { left, right };

/// Text in aligned columns, two blanks apart, under a line of headers. Widths count UTF-8
/// characters; lines have no trailing blanks.
class TextTable {
 public:
  struct Column {
    std::string header;
    Align align = Align::right;
  };

  explicit TextTable(std::vector<Column> columns);

  /// Missing cells at the end are blank. @throws std::invalid_argument if there are too many.
  void add_row(std::vector<std::string> cells);
  /// Every line ends with a newline.
  std::string text() const;

 private:
  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

/// One line of a CSV file (RFC 4180, but ended by "\n"): cells quoted where they must be.
std::string csv_line(const std::vector<std::string>& cells);

}  // namespace tessera
