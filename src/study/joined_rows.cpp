// This file compares and joins CSV files of one study.
#include "src/study/joined_rows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>
#include <string_view>
#include <vector>

#include "postprocess/files/text_table.hpp"
#include "postprocess/report/csv_table.hpp"

namespace tessera {
namespace {

using report::BadInput;
using report::CsvTable;

constexpr char kAdvice[] =
    "name another study.output, or remove the file, or leave study.append out to replace it";

// Whether the rows are appended is no part of what they are.
bool says_append(const std::string& key, const std::string& value) {
  return key == "toml" && value.starts_with("append = ");
}

// What of a file's comments has to be the same, and what it says in a user's words.
using Comments = std::vector<std::pair<std::string, std::string>>;

Comments lasting(const CsvTable& table) {
  Comments lasting;
  for (const auto& [key, value] : table.comments()) {
    if (key == "command" || key == "started" || says_append(key, value)) continue;
    lasting.emplace_back(key, value);
  }
  return lasting;
}

std::string_view kind_of(const std::pair<std::string, std::string>& comment) {
  if (comment.second.empty()) return "program";
  if (comment.first == "toml" || comment.first == "title") return "study";
  return comment.first;
}

std::string text_of(const std::pair<std::string, std::string>& comment) {
  return comment.second.empty() ? comment.first : comment.second;
}

// The cells that say what a row is of.
std::vector<std::string> what_is_measured(const CsvTable& table, std::size_t row) {
  constexpr std::array<std::string_view, 15> kColumns = {
      "dimension", "geometry", "degree",        "points",   "dofs",
      "precision", "threads",  "kernel",        "scatter",  "geometry_form",
      "solver",    "method",   "dofs_per_rank", "operator", "ranks"};
  std::vector<std::string> cells;
  cells.reserve(kColumns.size());
  for (const std::string_view column : kColumns) cells.push_back(table.text(row, column));
  return cells;
}

}  // namespace

void require_same_study(const std::string& name, const std::string& earlier,
                        const std::string& csv) {
  const CsvTable before(name, earlier);
  const CsvTable now(name, csv);
  const Comments old = lasting(before);
  const Comments own = lasting(now);
  for (std::size_t i = 0; i < std::max(old.size(), own.size()); ++i) {
    if (i < old.size() && i < own.size() && old[i] == own[i]) continue;
    const bool has_own = i < own.size();
    throw BadInput(fmt::format("{}: its rows are of another {} (\"{}\", here \"{}\"): {}", name,
                               kind_of(has_own ? own[i] : old[i]),
                               i < old.size() ? text_of(old[i]) : "nothing",
                               has_own ? text_of(own[i]) : "nothing", kAdvice));
  }
  if (before.columns() != now.columns()) {
    throw BadInput(fmt::format("{}: it has other columns: {}", name, kAdvice));
  }
}

std::string joined_rows(const std::string& name, const std::string& earlier,
                        const std::string& csv) {
  const CsvTable before(name, earlier);
  const CsvTable now(name, csv);
  // Comments and header as they are in the file.
  std::string text;
  std::size_t at = 0;
  const auto next_line = [&] {
    const std::size_t end = earlier.find('\n', at);
    std::string line = earlier.substr(at, end - at) + "\n";
    at = end == std::string::npos ? earlier.size() : end + 1;
    return line;
  };
  std::string line = next_line();
  while (line.starts_with('#') && at < earlier.size()) {
    text += line;
    line = next_line();
  }
  text += csv_line(before.columns());
  std::set<std::vector<std::string>> measured;
  for (std::size_t i = 0; i < now.size(); ++i) measured.insert(what_is_measured(now, i));
  for (std::size_t i = 0; i < before.size(); ++i) {
    if (!measured.contains(what_is_measured(before, i))) text += csv_line(before.row(i));
  }
  for (std::size_t i = 0; i < now.size(); ++i) text += csv_line(now.row(i));
  return text;
}

}  // namespace tessera
