// This file checks grids of ranks.
#include "src/parameters/ranks/rank_grid_choice.hpp"

#include <fmt/format.h>

#include "src/parameters/limits.hpp"

namespace tessera {
namespace {

constexpr char kAutomatic[] = "auto";

std::string must_be(const std::string& found) {
  return fmt::format("must be {}{}", rank_grid_text(), found);
}

}  // namespace

std::string rank_grid_text() {
  return fmt::format(
      "\"auto\" or an array, one entry per axis, of numbers of processes, each from 1 to {}",
      kMaxRanks);
}

CheckedValue check_rank_grid(const TomlValue& value) {
  if (const auto* text = value.get_if<std::string>()) {
    if (*text == kAutomatic) return {.value = value};
    return {.message = must_be("")};
  }
  const auto* array = value.get_if<TomlValue::Array>();
  if (array == nullptr) return {.message = must_be(fmt::format(", not {}", kind_of(value)))};
  if (array->size() < 2 || array->size() > 3) {
    return {.message = must_be(fmt::format("; it has {} entr{}, but a mesh has 2 or 3 axes",
                                           array->size(), array->size() == 1 ? "y" : "ies"))};
  }
  for (std::size_t d = 0; d < array->size(); ++d) {
    const auto* count = (*array)[d].get_if<std::int64_t>();
    if (count != nullptr && *count >= 1 && *count <= kMaxRanks) continue;
    return {.message = fmt::format("entry {} (axis {}) is {}: must be an integer from 1 to {}",
                                   d + 1, axis_name(d), toml_text((*array)[d]), kMaxRanks)};
  }
  return {.value = value};
}

void check_ranks(const RankGridChoice& ranks, const std::vector<std::int64_t>& cells,
                 Findings& findings) {
  if (ranks.along.empty() || findings.has_error(kRanksKey)) return;
  if (findings.has_error("mesh.dimension") || findings.has_error("mesh.cells")) return;
  if (ranks.along.size() != cells.size()) {
    findings.report(kRanksKey, fmt::format("must have {0} entries, one per axis, since "
                                           "mesh.dimension = {0}; it has {1}",
                                           cells.size(), ranks.along.size()));
    return;
  }
  for (std::size_t d = 0; d < cells.size(); ++d) {
    if (ranks.along[d] <= cells[d]) continue;
    findings.report(kRanksKey,
                    fmt::format("axis {}: {} processes need a cell each, and mesh.cells has {}",
                                axis_name(d), ranks.along[d], cells[d]));
  }
}

RankGridChoice Codec<RankGridChoice>::from(const TomlValue& value) {
  RankGridChoice ranks;
  const auto* array = value.get_if<TomlValue::Array>();
  if (array == nullptr) return ranks;
  for (const TomlValue& count : *array) ranks.along.push_back(*count.get_if<std::int64_t>());
  return ranks;
}

std::optional<TomlValue> Codec<RankGridChoice>::to(const RankGridChoice& ranks) {
  if (ranks.along.empty()) return TomlValue{std::string(kAutomatic)};
  TomlValue::Array array;
  for (const std::int64_t count : ranks.along) array.push_back({count});
  return TomlValue{std::move(array)};
}

}  // namespace tessera
