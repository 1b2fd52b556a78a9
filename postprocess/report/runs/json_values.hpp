// Values of a JSON file that may lack them.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "postprocess/report/csv_table.hpp"

namespace tessera::report {

using Json = nlohmann::ordered_json;

/// The value at "/solver/status", say; null if there is none.
inline const Json& value_at(const Json& json, const char* pointer) {
  static const Json kNothing = nullptr;
  const Json::json_pointer path(pointer);
  return json.contains(path) ? json.at(path) : kNothing;
}

inline std::optional<double> number_at(const Json& json, const char* pointer) {
  const Json& value = value_at(json, pointer);
  return value.is_number() ? std::optional(value.get<double>()) : std::nullopt;
}

/// Empty if there is no text.
inline std::string text_at(const Json& json, const char* pointer) {
  const Json& value = value_at(json, pointer);
  return value.is_string() ? clean_text(value.get<std::string>()) : std::string();
}

}  // namespace tessera::report
