// This file reads the times of a table.
#include "postprocess/series/kept_lines.hpp"

#include <charconv>
#include <system_error>

namespace tessera {
namespace {

// The header but for the comment that names the program: that of another version is as good.
std::string_view without_program(std::string_view text) {
  if (text.starts_with("# Tessera ")) text.remove_prefix(text.find('\n') + 1);
  return text;
}

}  // namespace

std::optional<std::string> lines_until(std::string_view table, std::string_view header, double t) {
  const std::string_view columns = without_program(header);
  const std::string_view body = without_program(table);
  if (!body.starts_with(columns)) return std::nullopt;
  std::size_t end = table.size() - body.size() + columns.size();
  while (end < table.size()) {
    const std::size_t newline = table.find('\n', end);
    if (newline == std::string_view::npos) break;
    double time = 0.0;
    const auto [rest, error] = std::from_chars(table.data() + end, table.data() + newline, time);
    if (error != std::errc{} || *rest != ',' || !(time <= t)) break;
    end = newline + 1;
  }
  return std::string(table.substr(0, end));
}

}  // namespace tessera
