// This file reads CSV files.
#include "postprocess/report/csv_table.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

namespace tessera::report {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";

// The bytes of the character that begins here; 0 if none that is valid does.
std::size_t character_length(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned first = byte(0);
  std::size_t length = 0;
  unsigned code = 0;
  if (first < 0x80) return 1;
  if (first >= 0xC2 && first < 0xE0) {
    length = 2;
    code = first & 0x1FU;
  } else if (first >= 0xE0 && first < 0xF0) {
    length = 3;
    code = first & 0x0FU;
  } else if (first >= 0xF0 && first < 0xF5) {
    length = 4;
    code = first & 0x07U;
  }
  if (length == 0 || length > text.size()) return 0;
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0U) != 0x80U) return 0;
    code = (code << 6U) | (byte(i) & 0x3FU);
  }
  const bool is_overlong = (length == 3 && code < 0x800) || (length == 4 && code < 0x10000);
  const bool is_surrogate = code >= 0xD800 && code < 0xE000;
  // Control characters of the second kind, and what is no character at all.
  const bool is_nothing = code < 0xA0 || (code & 0xFFFEU) == 0xFFFE || code > 0x10FFFF ||
                          (code >= 0xFDD0 && code <= 0xFDEF);
  return is_overlong || is_surrogate || is_nothing ? 0 : length;
}

class CsvReader {
 public:
  CsvReader(const std::string& name, std::string_view text) : name_(name), text_(text) {}

  bool at_end() const { return position_ >= text_.size(); }
  bool at_comment() const { return !at_end() && text_[position_] == '#'; }
  std::string_view line() {
    const std::size_t end = std::min(text_.find('\n', position_), text_.size());
    std::string_view line = text_.substr(position_, end - position_);
    if (line.ends_with('\r')) line.remove_suffix(1);
    position_ = end + 1;
    ++line_;
    return line;
  }
  std::size_t line_number() const { return line_; }

  std::vector<std::string> cells() {
    std::vector<std::string> cells;
    ++line_;
    do {
      cells.push_back(clean_text(cell()));
    } while (take(','));
    take('\r');
    if (!at_end() && !take('\n')) {
      throw BadInput(name_ + ": line " + std::to_string(line_) + ": text after a closing quote");
    }
    return cells;
  }

 private:
  bool take(char expected) {
    if (at_end() || text_[position_] != expected) return false;
    ++position_;
    return true;
  }

  std::string cell() {
    if (take('"')) return quoted();
    const std::size_t end = std::min(text_.find_first_of(",\r\n", position_), text_.size());
    const std::string_view cell = text_.substr(position_, end - position_);
    position_ = end;
    return std::string(cell);
  }

  std::string quoted() {
    std::string cell;
    while (!at_end()) {
      const char next = text_[position_++];
      if (next == '\n') ++line_;
      if (next != '"') {
        cell += next;
      } else if (take('"')) {
        cell += '"';
      } else {
        return cell;
      }
    }
    throw BadInput(name_ + ": a quote is not closed");
  }

  const std::string& name_;
  std::string_view text_;
  std::size_t position_ = 0;
  std::size_t line_ = 0;
};

std::string_view trimmed(std::string_view text) {
  while (text.starts_with(' ') || text.starts_with('#')) text.remove_prefix(1);
  while (text.ends_with(' ')) text.remove_suffix(1);
  return text;
}

}  // namespace

std::string clean_text(std::string_view text) {
  std::string clean;
  clean.reserve(text.size());
  while (!text.empty()) {
    const std::size_t length = character_length(text);
    const auto first = static_cast<unsigned char>(text.front());
    const bool is_control = (first < 0x20 && first != '\n' && first != '\t') || first == 0x7F;
    clean += length == 0 || is_control ? kReplacement : text.substr(0, length);
    text.remove_prefix(std::max<std::size_t>(length, 1));
  }
  return clean;
}

CsvTable::CsvTable(const std::string& name, std::string_view text) {
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  CsvReader reader(name, text);
  while (reader.at_comment()) {
    const std::string line = clean_text(trimmed(reader.line()));
    const std::size_t colon = line.find(": ");
    if (comments_.empty() && !line.starts_with("Tessera")) {
      comments_.emplace_back("comment", line);
    } else if (comments_.empty() || colon == std::string::npos) {
      comments_.emplace_back(line, "");
    } else {
      comments_.emplace_back(line.substr(0, colon), line.substr(colon + 2));
    }
  }
  if (reader.at_end()) throw BadInput(name + ": no header, the file holds no table");
  columns_ = reader.cells();
  while (!reader.at_end()) {
    std::vector<std::string> cells = reader.cells();
    if (cells.size() == 1 && cells.front().empty()) continue;
    if (cells.size() != columns_.size()) {
      throw BadInput(name + ": line " + std::to_string(reader.line_number()) + ": " +
                     std::to_string(cells.size()) + " cells under " +
                     std::to_string(columns_.size()) + " columns");
    }
    rows_.push_back(std::move(cells));
  }
}

std::string CsvTable::comment(std::string_view key) const {
  for (const auto& [name, value] : comments_) {
    if (name == key) return value;
  }
  return "";
}

std::optional<std::size_t> CsvTable::index_of(std::string_view column) const {
  const auto found = std::find(columns_.begin(), columns_.end(), column);
  if (found == columns_.end()) return std::nullopt;
  return static_cast<std::size_t>(found - columns_.begin());
}

bool CsvTable::has_all(const std::vector<std::string>& columns) const {
  return std::all_of(columns.begin(), columns.end(),
                     [&](const std::string& column) { return has(column); });
}

std::string CsvTable::text(std::size_t row, std::string_view column) const {
  const auto index = index_of(column);
  return index ? rows_[row][*index] : std::string();
}

std::optional<double> CsvTable::number(std::size_t row, std::string_view column) const {
  const auto index = index_of(column);
  return index ? number_of(rows_[row][*index]) : std::nullopt;
}

std::optional<double> number_of(std::string_view text) {
  double value = 0.0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool is_number = error == std::errc() && end == text.data() + text.size();
  return is_number && std::isfinite(value) ? std::optional(value) : std::nullopt;
}

}  // namespace tessera::report
