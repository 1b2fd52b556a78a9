// These functions apply overrides and find the value of each key.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "src/parameters/messages/findings.hpp"
#include "src/parameters/reference/key_description.hpp"
#include "src/parameters/toml/reader.hpp"
#include "src/parameters/toml/value.hpp"

namespace tessera {

/// Puts an override's value into the document; reports it if malformed or if there is no such key.
void apply_override(TomlValue& document, const Override& override_option,
                    std::span<const KeyDescription> keys, Findings& findings);

/// The checked value of each key, in the order of `keys`; nothing where it is not written or wrong.
/// Reports unknown keys and tables, values that are not allowed, and required keys left out.
std::vector<std::optional<TomlValue>> match_keys(const TomlValue& document,
                                                 std::span<const KeyDescription> keys,
                                                 Findings& findings);

}  // namespace tessera
