// This file writes the reference of keys in Markdown.
#include "src/parameters/reference/reference.hpp"

#include <fmt/format.h>

#include <set>

namespace tessera {

namespace {

std::string table_cell(const std::string& text) {
  std::string escaped;
  for (const char c : text) {
    if (c == '|') escaped += '\\';
    escaped += c;
  }
  return escaped;
}

std::string default_cell(const KeyDescription& key, const std::optional<TomlValue>& value) {
  if (key.presence == Presence::required) return "required";
  if (key.presence == Presence::required_in_table) return "required in the table";
  if (!key.default_text.empty()) return key.default_text;
  return value ? fmt::format("`{}`", table_cell(toml_text(*value))) : "none";
}

}  // namespace

std::string write_markdown(const std::string& title, std::span<const KeyDescription> keys,
                           const std::vector<std::optional<TomlValue>>& defaults) {
  std::string text = fmt::format("# {}\n", title);
  std::optional<std::string> table;
  std::set<std::string> described;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const KeyDescription& key = keys[i];
    const std::string& name = key.family.empty() ? key.name : key.family;
    if (!described.insert(name).second) continue;
    const auto dot = name.find('.');
    const std::string own_table = dot == std::string::npos ? "" : name.substr(0, dot);
    if (table != own_table) {
      table = own_table;
      if (!own_table.empty()) text += fmt::format("\n## `[{}]`\n", own_table);
      text += "\n| key | default | allowed | description |\n|---|---|---|---|\n";
    }
    const std::string unit = key.unit.empty() ? "" : ", in " + key.unit;
    text += fmt::format("| `{}` | {} | {}{} | {} |\n", name, default_cell(key, defaults[i]),
                        table_cell(allowed_text(key)), unit, table_cell(key.description));
  }
  return text;
}

}  // namespace tessera
