// These functions guess which name a user meant.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace tessera {

/// Edits between two words, letter case not counted: letters added, left out, replaced, or two
/// neighbours swapped.
int edit_distance(std::string_view a, std::string_view b);

/// The candidate that was probably meant, if any is close enough.
std::optional<std::string> nearest(std::string_view word, std::span<const std::string> candidates);

/// `"a" | "b" | "c"`.
std::string list_choices(std::span<const std::string> choices);

}  // namespace tessera
