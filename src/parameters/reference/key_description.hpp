// A KeyDescription is the declaration of a key, from which everything about it follows.
#pragma once

#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "src/parameters/toml/value.hpp"

namespace tessera {

/// What one entry of a key is.
enum class ValueType {
  boolean,
  integer,
  /// An integer that may also be written as a whole floating-point number, such as 1e6.
  count,
  real,
  string,
  /// Text in the expression language; a number is taken too and turned into text.
  expression,
  /// One of a closed set of strings.
  choice,
  /// Grid lines along an axis, see check_spacing().
  spacing,
  /// Points or the file that has them, see check_probe_points().
  points,
  /// Numbers of processes along the axes, see check_rank_grid().
  rank_grid
};

enum class Shape {
  scalar,
  /// An array of one or more different entries.
  list,
  /// An array of one entry per axis; whether the length is the dimension is for the cross-key
  /// checks.
  per_axis
};

enum class Presence {
  /// May be left out and has a default.
  defaulted,
  /// May be left out, and then there is none.
  optional,
  /// Must be there where something of its table is written; the table may be left out.
  required_in_table,
  required
};

enum class Bound { inclusive, exclusive };

/// The numbers allowed; infinite = no bound.
struct ValueRange {
  double lower = -std::numeric_limits<double>::infinity();
  double upper = std::numeric_limits<double>::infinity();
  Bound bound = Bound::inclusive;
};

ValueRange between(double lower, double upper);
ValueRange at_least(double lower);
ValueRange greater_than(double lower);
/// Both ends left out.
ValueRange inside(double lower, double upper);

/// All that is declared of a key; checks, texts and documentation follow from it.
struct KeyDescription {
  /// Dotted: `key`, `table.key`, or `table.group.key` (a group is written as an inline table).
  std::string name = {};
  /// One sentence.
  std::string description = {};
  /// Left out: the one that suits the parameter's C++ type.
  std::optional<ValueType> type = {};
  std::optional<Shape> shape = {};
  Presence presence = Presence::defaulted;
  std::optional<ValueRange> range = {};
  /// Left out: the enumerators of the parameter's C++ type.
  std::vector<std::string> choices = {};
  std::string unit = {};
  /// For defaults that depend on other keys, in words; otherwise they come from the parameters.
  std::string default_text = {};
  /// For keys without a default, or in a table that may be left out.
  std::optional<TomlValue> example = {};
  /// The name that the key had before; whoever writes it is told the new one.
  std::string formerly = {};
  /// Keys that share this name share one row in the reference and one comment; empty = `name`.
  std::string family = {};
};

/// "an integer from 1 to 32", "one of "a" | "b"", "an array of ...": what is allowed.
std::string allowed_text(const KeyDescription& key);

/// A value found to be allowed, in the form that its parameter takes; otherwise what is wrong.
struct CheckedValue {
  std::optional<TomlValue> value = {};
  std::string message = {};
  /// Of the entry that is wrong, if one is.
  Origin origin = {};
};

/// Checks type, range, choices and length against the declaration.
CheckedValue check_value(const KeyDescription& key, const TomlValue& value);

/// "x", "y" or "z".
std::string axis_name(std::size_t axis);

}  // namespace tessera
