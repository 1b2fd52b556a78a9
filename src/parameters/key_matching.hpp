// These functions apply overrides and find the value of each key.
#pragma once

#include <cstddef>
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

/// Whether a later override sets all or a part of what override `i` does.
bool is_replaced(std::size_t i, const std::vector<Override>& overrides);

/// Adds what match_keys() says of an override that will be replaced, which may be the one that was
/// meant. @param document with it, and without those that come later
void add_findings_of(const Override& item, const TomlValue& document,
                     std::span<const KeyDescription> keys, std::vector<Diagnostic>& findings);

/// Reports each value of an override that a later one of a table takes away with the rest of it.
void report_lost_overrides(const std::vector<Override>& overrides, Findings& findings);

/// The checked value of each key, in the order of `keys`; nothing where it is not written or wrong.
/// Reports unknown keys and tables, values that are not allowed, and required keys left out.
std::vector<std::optional<TomlValue>> match_keys(const TomlValue& document,
                                                 std::span<const KeyDescription> keys,
                                                 Findings& findings);

}  // namespace tessera
