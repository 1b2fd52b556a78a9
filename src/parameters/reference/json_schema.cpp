// This file writes a JSON schema of keys.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <string_view>
#include <type_traits>

#include "src/parameters/limits.hpp"
#include "src/parameters/reference/reference.hpp"

namespace tessera {

namespace {

using Json = nlohmann::ordered_json;

Json to_json(const TomlValue& value) {
  return std::visit(
      [](const auto& data) -> Json {
        using T = std::decay_t<decltype(data)>;
        if constexpr (std::is_same_v<T, TomlValue::Array>) {
          Json array = Json::array();
          for (const TomlValue& entry : data) array.push_back(to_json(entry));
          return array;
        } else if constexpr (std::is_same_v<T, TomlValue::Table>) {
          Json object = Json::object();
          for (const TomlMember& member : data) object[member.name] = to_json(member.value);
          return object;
        } else if constexpr (std::is_same_v<T, TomlValue::DateTime>) {
          return data.text;
        } else {
          return data;
        }
      },
      value.data);
}

void add_range(Json& schema, const KeyDescription& key) {
  const auto number = [&](double bound) -> Json {
    if (*key.type == ValueType::real) return bound;
    return static_cast<std::int64_t>(bound);
  };
  const bool exclusive = key.range->bound == Bound::exclusive;
  if (std::isfinite(key.range->lower)) {
    schema[exclusive ? "exclusiveMinimum" : "minimum"] = number(key.range->lower);
  }
  if (std::isfinite(key.range->upper)) {
    schema[exclusive ? "exclusiveMaximum" : "maximum"] = number(key.range->upper);
  }
}

Json spacing_schema() {
  Json geometric = {{"type", "object"}, {"additionalProperties", false}};
  geometric["properties"]["geometric"] = {{"type", "number"}, {"exclusiveMinimum", 0.0}};
  geometric["required"] = {"geometric"};
  Json lines = {{"type", "array"}, {"minItems", 2}};
  lines["items"]["type"] = "number";
  Json schema;
  schema["anyOf"] = {Json{{"const", "uniform"}}, geometric, lines};
  return schema;
}

Json points_schema() {
  Json point = {{"type", "array"}, {"minItems", 2}, {"maxItems", 3}};
  point["items"]["type"] = "number";
  Json points = {{"type", "array"}, {"minItems", 1}, {"items", point}};
  Json schema;
  schema["anyOf"] = {Json{{"type", "string"}, {"minLength", 1}}, points};
  return schema;
}

Json rank_grid_schema() {
  Json counts = {{"type", "array"}, {"minItems", 2}, {"maxItems", 3}};
  counts["items"] = {{"type", "integer"}, {"minimum", 1}, {"maximum", kMaxRanks}};
  Json schema;
  schema["anyOf"] = {Json{{"const", "auto"}}, counts};
  return schema;
}

Json entry_schema(const KeyDescription& key) {
  Json schema;
  switch (*key.type) {
    case ValueType::boolean:
      schema["type"] = "boolean";
      break;
    case ValueType::integer:
    case ValueType::count:
      schema["type"] = "integer";
      break;
    case ValueType::real:
      schema["type"] = "number";
      break;
    case ValueType::string:
      schema["type"] = "string";
      break;
    case ValueType::expression:
      schema["type"] = {"string", "number"};
      schema["pattern"] = "\\S";
      break;
    case ValueType::choice:
      schema["enum"] = key.choices;
      break;
    case ValueType::spacing:
      schema = spacing_schema();
      break;
    case ValueType::points:
      schema = points_schema();
      break;
    case ValueType::rank_grid:
      schema = rank_grid_schema();
      break;
  }
  if (key.range) add_range(schema, key);
  return schema;
}

Json key_schema(const KeyDescription& key, const std::optional<TomlValue>& default_value) {
  Json schema;
  if (*key.shape == Shape::scalar) {
    schema = entry_schema(key);
  } else {
    schema["type"] = "array";
    schema["items"] = entry_schema(key);
    schema["minItems"] = *key.shape == Shape::per_axis ? 2 : 1;
    if (*key.shape == Shape::per_axis) schema["maxItems"] = 3;
    if (*key.shape == Shape::list) schema["uniqueItems"] = true;
  }
  schema["description"] =
      key.unit.empty() ? key.description : fmt::format("{} In {}.", key.description, key.unit);
  if (key.presence == Presence::defaulted && key.default_text.empty() && default_value) {
    schema["default"] = to_json(*default_value);
  }
  if (key.example) schema["examples"] = Json::array({to_json(*key.example)});
  return schema;
}

Json object_schema() {
  return {{"type", "object"}, {"additionalProperties", false}, {"properties", Json::object()}};
}

void add_required(Json& object, const std::string& name) {
  Json& names = object["required"];
  if (std::find(names.begin(), names.end(), Json(name)) == names.end()) names.push_back(name);
}

}  // namespace

std::string write_json_schema(const std::string& title, std::span<const KeyDescription> keys,
                              const std::vector<std::optional<TomlValue>>& defaults) {
  Json root;
  root["$schema"] = "https://json-schema.org/draft/2020-12/schema";
  root["title"] = title;
  root.update(object_schema());
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const KeyDescription& key = keys[i];
    const bool required = key.presence == Presence::required;
    Json* object = &root;
    std::string_view rest = key.name;
    for (auto dot = rest.find('.'); dot != std::string_view::npos; dot = rest.find('.')) {
      const std::string part(rest.substr(0, dot));
      // A table that holds a required key is itself required.
      if (required) add_required(*object, part);
      Json& properties = (*object)["properties"];
      if (!properties.contains(part)) properties[part] = object_schema();
      object = &properties[part];
      rest.remove_prefix(dot + 1);
    }
    (*object)["properties"][std::string(rest)] = key_schema(key, defaults[i]);
    if (required || key.presence == Presence::required_in_table) {
      add_required(*object, std::string(rest));
    }
  }
  return root.dump(2) + "\n";
}

}  // namespace tessera
