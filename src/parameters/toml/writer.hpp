// This function writes parameters as a TOML file.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "src/parameters/reference/key_description.hpp"
#include "src/parameters/toml/value.hpp"

namespace tessera {

enum class Comments {
  none,
  /// Each key's description, unit and allowed values above it; absent optional keys as comments.
  full
};

/// A TOML file with the given value of each key, in the order of `keys`; nothing = left out.
std::string write_toml(std::span<const KeyDescription> keys,
                       const std::vector<std::optional<TomlValue>>& values, Comments comments);

}  // namespace tessera
