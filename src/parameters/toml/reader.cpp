// This file reads TOML text and overrides.
#include "src/parameters/toml/reader.hpp"

#include <fmt/format.h>
#include <toml++/toml.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <sstream>

#include "src/parameters/messages/diagnostics.hpp"

namespace tessera {

namespace {

[[noreturn]] void fail(const Origin& origin, const std::string& message) {
  throw InputError({{.file = origin.file, .line = origin.line, .message = message}});
}

Origin at_line(const Origin& base, const toml::source_region& region) {
  if (base.layer == Layer::override_option) return base;
  return {base.file, static_cast<int>(region.begin.line), base.layer};
}

TomlValue convert(const toml::node& node, const Origin& base);

TomlValue::Table convert_table(const toml::table& table, const Origin& base) {
  TomlValue::Table members;
  for (const auto& [key, node] : table) {
    members.push_back({std::string(key.str()), convert(node, base), at_line(base, key.source())});
  }
  // The library sorts by name; what is wrong is best reported in the order written.
  std::stable_sort(members.begin(), members.end(), [](const TomlMember& a, const TomlMember& b) {
    return a.origin.line < b.origin.line;
  });
  return members;
}

TomlValue convert(const toml::node& node, const Origin& base) {
  TomlValue value;
  value.origin = at_line(base, node.source());
  node.visit([&]<class Node>(const Node& typed) {
    if constexpr (toml::is_table<Node>) {
      value.data = convert_table(typed, base);
    } else if constexpr (toml::is_array<Node>) {
      TomlValue::Array entries;
      for (const toml::node& entry : typed) entries.push_back(convert(entry, base));
      value.data = std::move(entries);
    } else if constexpr (toml::is_chronological<Node>) {
      value.data = TomlValue::DateTime{(std::ostringstream() << typed.get()).str()};
    } else {
      value.data = typed.get();
    }
  });
  return value;
}

/// Parts of a dotted name: the parser makes a table of each, one in the other, and the program goes
/// through them by recursion.
constexpr int kMaxNameParts = 64;

/// Where a quoted part that begins at `i` ends: behind the closing quotes, or where the text does.
std::size_t after_string(std::string_view text, std::size_t i) {
  const char quote = text[i];
  const std::string_view rest = text.substr(i);
  const bool is_long = rest.size() >= 3 && rest[1] == quote && rest[2] == quote;
  const std::size_t width = is_long ? 3 : 1;
  for (i += width; i < text.size(); ++i) {
    if (text[i] == '\\' && quote == '"') {
      ++i;
    } else if (text[i] == quote && text.substr(i, width) == std::string(width, quote)) {
      return i + width;
    } else if (text[i] == '\n' && !is_long) {
      return i;
    }
  }
  return text.size();
}

/// The line, from 1, of a name with more parts than are allowed; 0 if there is none.
int line_of_long_name(std::string_view text) {
  int line = 1;
  int dots = 0;
  for (std::size_t i = 0; i < text.size();) {
    const char c = text[i];
    if (c == '"' || c == '\'') {
      const std::size_t end = after_string(text, i);
      line += static_cast<int>(std::count(text.begin() + i, text.begin() + end, '\n'));
      i = end;
      continue;
    }
    if (c == '#') {
      i = std::min(text.find('\n', i), text.size());
      continue;
    }
    if (c == '.') {
      if (++dots >= kMaxNameParts) return line;
    } else if (c == '=' || c == ',' || c == '\n' || c == '[' || c == '{') {
      dots = 0;
    }
    if (c == '\n') ++line;
    ++i;
  }
  return 0;
}

/// The value that `text` is in TOML, or nothing if it is not exactly one.
/// @throws InputError of a number that is too large
std::optional<TomlValue> parse_value(std::string_view text, const Origin& origin) {
  if (line_of_long_name(text) > 0) return std::nullopt;
  try {
    const toml::table table = toml::parse(fmt::format("value = {}\n", text));
    const toml::node* node = table.get("value");
    if (node == nullptr || table.size() != 1) return std::nullopt;
    return convert(*node, origin);
  } catch (const toml::parse_error& error) {
    // What it says of other texts may be about the strings without quotes that they are.
    if (error.description().find("representable") == std::string_view::npos) return std::nullopt;
    fail(origin, fmt::format("not valid TOML: {}", error.description()));
  }
}

std::string_view trim(std::string_view text) {
  const auto first = text.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r\n") - first + 1);
}

bool is_dotted_name(std::string_view key) {
  for (;; key.remove_prefix(key.find('.') + 1)) {
    if (!is_bare_key(key.substr(0, key.find('.')))) return false;
    if (key.find('.') == std::string_view::npos) return true;
  }
}

}  // namespace

std::string read_text_file(const std::string& path) {
  const Origin origin{.file = path};
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) {
    fail(origin, "is a directory; a TOML file is needed");
  }
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    fail(origin,
         fmt::format("cannot be opened: {}", errno != 0 ? std::strerror(errno) : "unknown reason"));
  }
  std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  if (file.bad()) fail(origin, "cannot be read");
  return text;
}

TomlValue parse_toml(std::string_view text, const std::string& file) {
  const Origin base{.file = file};
  if (const int line = line_of_long_name(text); line > 0) {
    fail({.file = file, .line = line},
         fmt::format("a name has more than {} parts; Tessera's have at most 3, such as "
                     "solver.multigrid.levels",
                     kMaxNameParts));
  }
  try {
    const toml::table table = toml::parse(text, file);
    TomlValue root;
    root.origin = base;
    root.data = convert_table(table, base);
    return root;
  } catch (const toml::parse_error& error) {
    fail(at_line(base, error.source()), fmt::format("not valid TOML: {}", error.description()));
  }
}

std::string shown_text(const Override& item) {
  return item.shown_as.empty() ? "--set " + item.assignment : item.shown_as;
}

std::string key_text(const Override& item) {
  const std::string_view text = item.assignment;
  return std::string(trim(text.substr(0, text.find('='))));
}

Assignment parse_override(const Override& override_option) {
  const std::string& assignment = override_option.assignment;
  const Origin origin{.file = shown_text(override_option), .layer = Layer::override_option};
  const auto equals = assignment.find('=');
  if (equals == std::string::npos) {
    fail(origin, "must be KEY=VALUE, such as --set space.degree=4");
  }
  const std::string_view key = trim(std::string_view(assignment).substr(0, equals));
  const std::string_view text = trim(std::string_view(assignment).substr(equals + 1));
  if (!is_dotted_name(key)) {
    fail(origin,
         fmt::format("\"{}\" is not a key; must be a dotted name, such as space.degree", key));
  }
  if (text.empty()) {
    fail(origin,
         fmt::format("{} has no value; an empty string is written --set '{}=\"\"'", key, key));
  }
  if (auto value = parse_value(text, origin)) return {std::string(key), std::move(*value)};
  // Not TOML. A bare word, or an expression such as 2*x, is a string; what opens like an array, a
  // table or a quoted string was meant as TOML and has a mistake in it.
  if (std::string_view("[{\"'").find(text.front()) != std::string_view::npos) {
    fail(origin, fmt::format("{}: not valid TOML; strings inside arrays and tables need quotes, "
                             "which the shell removes unless all of it is in single quotes: "
                             "--set 'KEY=[\"a\", \"b\"]'",
                             key));
  }
  auto value = parse_value(quote(text), origin);
  if (!value) fail(origin, fmt::format("{}: the value is not valid UTF-8", key));
  return {std::string(key), std::move(*value)};
}

}  // namespace tessera
