// A RankGridChoice says along which axes several processes share a case.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "src/parameters/codec.hpp"
#include "src/parameters/messages/findings.hpp"
#include "src/parameters/reference/key_description.hpp"

namespace tessera {

/// The number of ranks along each axis of the mesh; empty: whatever suits their number.
struct RankGridChoice {
  std::vector<std::int64_t> along = {};

  bool operator==(const RankGridChoice&) const = default;
};

/// The key of the choice.
inline constexpr char kRanksKey[] = "run.ranks";

/// What a file may have, as allowed_text().
std::string rank_grid_text();

/// Checks `"auto"` or an array of two or three numbers from 1 on.
CheckedValue check_rank_grid(const TomlValue& value);

/// Reports a grid that does not go with a mesh of so many cells, an entry for each axis.
void check_ranks(const RankGridChoice& ranks, const std::vector<std::int64_t>& cells,
                 Findings& findings);

template <>
struct Codec<RankGridChoice> {
  static constexpr ValueType type = ValueType::rank_grid;
  static constexpr Shape shape = Shape::scalar;
  static std::vector<std::string> choices() { return {}; }
  static RankGridChoice from(const TomlValue& value);
  static std::optional<TomlValue> to(const RankGridChoice& ranks);
};

}  // namespace tessera
