// This file pads the cells of tables and quotes those of CSV files.
#include "postprocess/files/text_table.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace tessera {
namespace {

std::size_t width(std::string_view text) {
  const auto starts_character = [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0) != 0x80;
  };
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), starts_character));
}

}  // namespace

TextTable::TextTable(std::vector<Column> columns) : columns_(std::move(columns)) {}

void TextTable::add_row(std::vector<std::string> cells) {
  if (cells.size() > columns_.size()) throw std::invalid_argument("more cells than columns");
  cells.resize(columns_.size());
  rows_.push_back(std::move(cells));
}

std::string TextTable::text() const {
  std::vector<std::vector<std::string>> lines(1);
  for (const Column& column : columns_) lines[0].push_back(column.header);
  lines.insert(lines.end(), rows_.begin(), rows_.end());

  std::vector<std::size_t> widths(columns_.size(), 0);
  for (const auto& line : lines) {
    for (std::size_t c = 0; c < line.size(); ++c) widths[c] = std::max(widths[c], width(line[c]));
  }
  std::string text;
  for (const auto& line : lines) {
    std::string row;
    for (std::size_t c = 0; c < line.size(); ++c) {
      const std::string fill(widths[c] - width(line[c]), ' ');
      row += c == 0 ? "" : "  ";
      row += columns_[c].align == Align::left ? line[c] + fill : fill + line[c];
    }
    row.erase(row.find_last_not_of(' ') + 1);
    text += row + "\n";
  }
  return text;
}

std::string csv_line(const std::vector<std::string>& cells) {
  std::string line;
  for (std::size_t c = 0; c < cells.size(); ++c) {
    if (c > 0) line += ',';
    if (cells[c].find_first_of(",\"\r\n") == std::string::npos) {
      line += cells[c];
      continue;
    }
    line += '"';
    for (const char character : cells[c]) {
      if (character == '"') line += '"';
      line += character;
    }
    line += '"';
  }
  return line + "\n";
}

}  // namespace tessera
