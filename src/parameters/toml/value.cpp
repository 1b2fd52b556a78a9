// This file finds members of TOML tables.
#include "src/parameters/toml/value.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <type_traits>

namespace tessera {

namespace {

std::string array_text(const TomlValue::Array& array) {
  std::string text = "[";
  for (const TomlValue& entry : array) {
    if (text.size() > 1) text += ", ";
    text += toml_text(entry);
  }
  return text + "]";
}

std::string table_text(const TomlValue::Table& table) {
  if (table.empty()) return "{}";
  std::string text = "{ ";
  for (const TomlMember& member : table) {
    if (text.size() > 2) text += ", ";
    text += key_text(member.name);
    text += " = " + toml_text(member.value);
  }
  return text + " }";
}

}  // namespace

bool is_bare_key(std::string_view name) {
  return !name.empty() && std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-';
  });
}

std::string_view kind_of(const TomlValue& value) {
  static constexpr std::string_view kKinds[] = {"true or false", "an integer",     "a number",
                                                "a string",      "a date or time", "an array",
                                                "a table"};
  return kKinds[value.data.index()];
}

std::string quote(std::string_view text) {
  std::string quoted = "\"";
  for (const char c : text) {
    switch (c) {
      case '"':
        quoted += "\\\"";
        break;
      case '\\':
        quoted += "\\\\";
        break;
      case '\n':
        quoted += "\\n";
        break;
      case '\t':
        quoted += "\\t";
        break;
      case '\r':
        quoted += "\\r";
        break;
      default: {
        const auto byte = static_cast<unsigned char>(c);
        if (byte < 0x20 || byte == 0x7f) {
          quoted += fmt::format("\\u{:04X}", static_cast<unsigned>(byte));
        } else {
          quoted += c;
        }
      }
    }
  }
  return quoted + "\"";
}

std::string key_text(std::string_view name) {
  return is_bare_key(name) ? std::string(name) : quote(name);
}

std::string number_text(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
  std::string text = fmt::format("{}", value);
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return text;
}

std::string toml_text(const TomlValue& value) {
  return std::visit(
      [](const auto& data) -> std::string {
        using T = std::decay_t<decltype(data)>;
        if constexpr (std::is_same_v<T, bool>) {
          return data ? "true" : "false";
        } else if constexpr (std::is_same_v<T, std::int64_t>) {
          return std::to_string(data);
        } else if constexpr (std::is_same_v<T, double>) {
          return number_text(data);
        } else if constexpr (std::is_same_v<T, std::string>) {
          return quote(data);
        } else if constexpr (std::is_same_v<T, TomlValue::DateTime>) {
          return data.text;
        } else if constexpr (std::is_same_v<T, TomlValue::Array>) {
          return array_text(data);
        } else {
          return table_text(data);
        }
      },
      value.data);
}

}  // namespace tessera
