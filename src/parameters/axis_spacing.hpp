// An AxisSpacing says how the grid lines of an axis lie.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "mesh/box_mesh.hpp"
#include "src/parameters/codec.hpp"
#include "src/parameters/reference/key_description.hpp"

namespace tessera {

/// How the grid lines lie along an axis: at `lines` if there are any, or else so that each cell is
/// `ratio` times as wide as the one before it.
struct AxisSpacing {
  double ratio = 1.0;
  GridLines lines = {};
};

/// Of an axis from lower to upper; empty for equal cells.
GridLines grid_lines(const AxisSpacing& spacing, double lower, double upper, Index cells);

/// Why the spacing does not go with these ends and cells, or makes cells too narrow for double
/// precision; empty if it can be used.
std::string spacing_error(const AxisSpacing& spacing, double lower, double upper, Index cells);

/// Why equal cells are too narrow, so far from 0, for double precision to tell points in them
/// apart; empty if they are not.
std::string position_error(double lower, double upper, Index cells);

/// What a file may have for an axis, as allowed_text().
std::string spacing_text();

/// Checks `"uniform"`, `{ geometric = R }` or an array of grid lines; numbers become doubles.
CheckedValue check_spacing(const TomlValue& value);

template <>
struct Codec<AxisSpacing> {
  static constexpr ValueType type = ValueType::spacing;
  static constexpr Shape shape = Shape::scalar;
  static std::vector<std::string> choices() { return {}; }
  static AxisSpacing from(const TomlValue& value);
  static std::optional<TomlValue> to(const AxisSpacing& spacing);
};

}  // namespace tessera
