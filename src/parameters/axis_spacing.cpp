// This file checks spacings and makes their grid lines.
#include "src/parameters/axis_spacing.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "mesh/errors.hpp"
#include "src/parameters/limits.hpp"

namespace tessera {

namespace {

constexpr char kUniform[] = "uniform";
constexpr char kGeometric[] = "geometric";
// Of the largest coordinate: nodes and points inside a cell must differ, with digits to spare.
constexpr double kMinWidth = 1e-12;

std::optional<double> finite_number(const TomlValue& value) {
  if (const auto* integer = value.get_if<std::int64_t>()) return static_cast<double>(*integer);
  const auto* real = value.get_if<double>();
  if (real == nullptr || !std::isfinite(*real)) return std::nullopt;
  return *real;
}

std::string must_be(const std::string& found) {
  return fmt::format("must be {}{}", spacing_text(), found);
}

CheckedValue check_geometric(const TomlValue& value, const TomlValue::Table& table) {
  if (table.size() != 1 || table[0].name != kGeometric) return {.message = must_be("")};
  const std::optional<double> ratio = finite_number(table[0].value);
  if (!ratio || !(*ratio > 0.0)) {
    return {.message = fmt::format("{} must be a number greater than 0, how many times as wide as "
                                   "the one before it a cell is",
                                   kGeometric)};
  }
  return {.value = TomlValue{TomlValue::Table{{kGeometric, TomlValue{*ratio}, {}}}, value.origin}};
}

CheckedValue check_lines(const TomlValue& value, const TomlValue::Array& array) {
  if (array.size() < 2) {
    return {.message = fmt::format("must have 2 or more grid lines; it has {}", array.size())};
  }
  TomlValue::Array lines;
  double previous = -std::numeric_limits<double>::infinity();
  for (const TomlValue& entry : array) {
    const std::optional<double> line = finite_number(entry);
    const std::size_t number = lines.size() + 1;
    if (!line) {
      return {.message = fmt::format("grid line {} is {}: must be a finite number", number,
                                     toml_text(entry))};
    }
    if (!(*line > previous)) {
      return {.message = fmt::format("grid line {} is {}: must be greater than the one before it, "
                                     "{}",
                                     number, number_text(*line), number_text(previous))};
    }
    previous = *line;
    lines.push_back({*line});
  }
  return {.value = TomlValue{std::move(lines), value.origin}};
}

std::string end_error(const char* end, double line, const char* key, double corner) {
  if (line == corner) return {};
  return fmt::format("its {} grid line is {}, and {} has {}; they must agree, or {} be left out",
                     end, number_text(line), key, number_text(corner), key);
}

std::string lines_error(const GridLines& lines, double lower, double upper, Index cells) {
  const auto count = static_cast<Index>(lines.size());
  if (count != cells + 1) {
    return fmt::format(
        "has {} grid lines, which make {} cells, and mesh.cells has {}; they must "
        "agree",
        count, count - 1, cells);
  }
  const std::string first = end_error("first", lines.front(), "mesh.lower", lower);
  return first.empty() ? end_error("last", lines.back(), "mesh.upper", upper) : first;
}

}  // namespace

GridLines grid_lines(const AxisSpacing& spacing, double lower, double upper, Index cells) {
  return spacing.lines.empty() ? geometric_lines(lower, upper, cells, spacing.ratio)
                               : spacing.lines;
}

std::string spacing_error(const AxisSpacing& spacing, double lower, double upper, Index cells) {
  if (!spacing.lines.empty()) {
    std::string error = lines_error(spacing.lines, lower, upper, cells);
    if (!error.empty()) return error;
  } else if (spacing.ratio == 1.0) {
    // Equal cells have the box's ends to blame: position_error().
    return {};
  } else if (cells > kMaxGradedCells) {
    return fmt::format("{} cells: at most {} are allowed, unless they are uniform", cells,
                       kMaxGradedCells);
  }
  const double largest = std::max(std::abs(lower), std::abs(upper));
  const double least = kMinWidth * largest;
  const GridLines lines = grid_lines(spacing, lower, upper, cells);
  for (Index c = 0; c < cells; ++c) {
    const double width = lines[c + 1] - lines[c];
    if (width >= least) continue;
    return fmt::format(
        "cell {} of {} would be {:.2g} wide; at least {:.2g} is allowed, {} of the "
        "largest coordinate",
        c + 1, cells, width, least, kMinWidth);
  }
  return {};
}

std::string position_error(double lower, double upper, Index cells) {
  const double largest = std::max(std::abs(lower), std::abs(upper));
  const double width = (upper - lower) / static_cast<double>(cells);
  if (width >= kMinWidth * largest) return {};
  return fmt::format(
      "{} equal cells from {} to {} are {:.3g} wide: {}; at least {:.3g} is allowed, {} of the "
      "largest coordinate, or the box be moved nearer to 0",
      cells, number_text(lower), number_text(upper), width, digits_left(width, largest),
      kMinWidth * largest, kMinWidth);
}

std::string spacing_text() {
  return fmt::format("\"{}\", {{ {} = R }} with R > 0, or an array of all grid lines, increasing",
                     kUniform, kGeometric);
}

CheckedValue check_spacing(const TomlValue& value) {
  if (const auto* text = value.get_if<std::string>()) {
    return *text == kUniform ? CheckedValue{.value = value} : CheckedValue{.message = must_be("")};
  }
  if (const auto* table = value.get_if<TomlValue::Table>()) return check_geometric(value, *table);
  if (const auto* array = value.get_if<TomlValue::Array>()) return check_lines(value, *array);
  return {.message = must_be(fmt::format(", not {}", kind_of(value)))};
}

AxisSpacing Codec<AxisSpacing>::from(const TomlValue& value) {
  if (const auto* table = value.get_if<TomlValue::Table>()) {
    return {.ratio = *table->front().value.get_if<double>()};
  }
  AxisSpacing spacing;
  if (const auto* array = value.get_if<TomlValue::Array>()) {
    for (const TomlValue& line : *array) spacing.lines.push_back(*line.get_if<double>());
  }
  return spacing;
}

std::optional<TomlValue> Codec<AxisSpacing>::to(const AxisSpacing& spacing) {
  if (!spacing.lines.empty()) {
    TomlValue::Array array;
    for (const double line : spacing.lines) array.push_back({line});
    return TomlValue{std::move(array)};
  }
  if (spacing.ratio == 1.0) return TomlValue{std::string(kUniform)};
  return TomlValue{TomlValue::Table{{kGeometric, TomlValue{spacing.ratio}, {}}}};
}

}  // namespace tessera
