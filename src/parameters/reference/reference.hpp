// These functions write the reference and the schema of keys.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "src/parameters/reference/key_description.hpp"
#include "src/parameters/toml/value.hpp"

namespace tessera {

/// A Markdown section with one table a TOML table: key, default, what is allowed, description.
/// @param defaults the default of each key, in the order of `keys`.
std::string write_markdown(const std::string& title, std::span<const KeyDescription> keys,
                           const std::vector<std::optional<TomlValue>>& defaults);

/// A JSON Schema (draft 2020-12) with which editors complete and check files while they are typed.
std::string write_json_schema(const std::string& title, std::span<const KeyDescription> keys,
                              const std::vector<std::optional<TomlValue>>& defaults);

}  // namespace tessera
