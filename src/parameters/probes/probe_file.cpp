// This file reads the lines of a CSV file of points.
#include "src/parameters/probes/probe_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>

namespace tessera {

namespace {

constexpr int kMaxNamed = 10;

std::string_view trimmed(std::string_view text) {
  constexpr const char* kBlanks = " \t\r\"";
  const auto first = text.find_first_not_of(kBlanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
}

std::optional<double> number_in(std::string_view cell) {
  if (cell.starts_with('+')) cell.remove_prefix(1);
  double value = 0.0;
  const auto [end, error] = std::from_chars(cell.data(), cell.data() + cell.size(), value);
  if (error != std::errc() || end != cell.data() + cell.size()) return std::nullopt;
  return value;
}

// A file that is no text must not reach the terminal as it is.
std::string printable(std::string_view text) {
  std::string shown(text);
  for (char& c : shown) {
    if (c < ' ' || c > '~') c = '?';
  }
  return shown;
}

class ProbeFile {
 public:
  ProbeFile(int dimension, ProbePoints& probes, Findings& findings)
      : dimension_(dimension), probes_(probes), findings_(findings) {}

  void read(std::string_view text) {
    if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
    while (!text.empty() && !has_bad_header_) {
      const std::size_t end = std::min(text.find('\n'), text.size());
      ++line_;
      read_line(text.substr(0, end));
      text.remove_prefix(std::min(end + 1, text.size()));
    }
    if (wrong_ > kMaxNamed) {
      report("", fmt::format("{} more lines are wrong", wrong_ - kMaxNamed), 0);
    } else if (wrong_ == 0 && probes_.points.empty()) {
      report("", "has no points", 0);
    }
  }

 private:
  void read_line(std::string_view line) {
    const std::string_view content = trimmed(line);
    if (content.empty() || content.starts_with('#')) return;
    split(line);
    if (is_first_ && !number_in(cells_[0])) {
      read_header(content);
    } else {
      read_point(content);
    }
    is_first_ = false;
  }

  void split(std::string_view line) {
    cells_.clear();
    for (std::size_t begin = 0; begin <= line.size();) {
      const std::size_t end = std::min(line.find(',', begin), line.size());
      cells_.push_back(trimmed(line.substr(begin, end - begin)));
      begin = end + 1;
    }
  }

  void read_header(std::string_view content) {
    for (int d = 0; d < dimension_; ++d) {
      const std::string_view name = std::string_view("xyz").substr(static_cast<std::size_t>(d), 1);
      const auto found = std::find(cells_.begin(), cells_.end(), name);
      if (found == cells_.end()) {
        has_bad_header_ = true;
        return wrong(content, fmt::format("is no point, and as a header it has no column {}; "
                                          "needed: {}",
                                          name, needed()));
      }
      columns_[static_cast<std::size_t>(d)] = static_cast<std::size_t>(found - cells_.begin());
    }
    header_cells_ = cells_.size();
  }

  void read_point(std::string_view content) {
    const std::size_t expected = header_cells_ ? *header_cells_ : axes();
    if (cells_.size() != expected) {
      return wrong(content, header_cells_
                                ? fmt::format("has {} values, and the header has {} columns",
                                              cells_.size(), expected)
                                : fmt::format("has {} value{}; needed: {}", cells_.size(),
                                              cells_.size() == 1 ? "" : "s", needed()));
    }
    Point point{};
    for (std::size_t d = 0; d < axes(); ++d) {
      const std::string_view cell = cells_[columns_[d]];
      const std::optional<double> number = number_in(cell);
      if (!number || !std::isfinite(*number)) {
        return wrong(content,
                     fmt::format("{} is \"{}\": must be a finite number", axis_name(d), cell));
      }
      point[d] = *number;
    }
    probes_.points.push_back(point);
    probes_.lines.push_back(line_);
  }

  std::size_t axes() const { return static_cast<std::size_t>(dimension_); }
  std::string needed() const {
    return fmt::format("{}, since mesh.dimension = {}", dimension_ == 2 ? "x,y" : "x,y,z",
                       dimension_);
  }

  void wrong(std::string_view content, const std::string& message) {
    constexpr std::size_t kLongest = 60;
    if (++wrong_ > kMaxNamed) return;
    report(printable(content.substr(0, kLongest)), printable(message), line_);
  }
  void report(std::string_view value, const std::string& message, int line) {
    findings_.report({.file = probes_.file,
                      .line = line,
                      .key = kProbesKey,
                      .value = std::string(value),
                      .message = message});
  }

  int dimension_;
  ProbePoints& probes_;
  Findings& findings_;
  int line_ = 0;
  int wrong_ = 0;
  bool is_first_ = true;
  bool has_bad_header_ = false;
  std::optional<std::size_t> header_cells_;
  std::array<std::size_t, 3> columns_ = {0, 1, 2};
  std::vector<std::string_view> cells_;
};

}  // namespace

void read_probe_points(std::string_view text, int dimension, ProbePoints& probes,
                       Findings& findings) {
  ProbeFile(dimension, probes, findings).read(text);
}

}  // namespace tessera
