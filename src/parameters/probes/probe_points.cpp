// This file checks lists of points, and names those that are wrong.
#include "src/parameters/probes/probe_points.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace tessera {

namespace {

constexpr std::size_t kMaxNamed = 10;

CheckedValue check_list(const TomlValue& value, const TomlValue::Array& array) {
  if (array.empty())
    return {.message = fmt::format("must be {}; it is empty", probe_points_text())};
  TomlValue::Array points;
  for (const TomlValue& entry : array) {
    const auto wrong = [&](const std::string& message) {
      return CheckedValue{.message = fmt::format("point {} is {}: {}", points.size() + 1,
                                                 toml_text(entry), message),
                          .origin = entry.origin};
    };
    const auto* const numbers = entry.get_if<TomlValue::Array>();
    if (numbers == nullptr) return wrong("must be an array of numbers, such as [0.5, 0.5, 0.5]");
    if (numbers->size() < 2 || numbers->size() > 3) {
      return wrong("must have 2 or 3 coordinates, as the mesh has axes");
    }
    TomlValue::Array point;
    for (const TomlValue& number : *numbers) {
      const auto* const integer = number.get_if<std::int64_t>();
      const auto* const real = number.get_if<double>();
      if (integer == nullptr && (real == nullptr || !std::isfinite(*real))) {
        return wrong("its coordinates must be finite numbers");
      }
      point.push_back({integer != nullptr ? static_cast<double>(*integer) : *real});
    }
    points.push_back({std::move(point), entry.origin});
  }
  return {.value = TomlValue{std::move(points), value.origin}};
}

std::string point_text(const Point& point, int dimension) {
  std::string text;
  for (int d = 0; d < dimension; ++d) text += (d == 0 ? "[" : ", ") + number_text(point[d]);
  return text + "]";
}

}  // namespace

std::string probe_points_text() {
  return "an array of points, each an array of its coordinates, or the name of a CSV file of them";
}

CheckedValue check_probe_points(const TomlValue& value) {
  if (const auto* text = value.get_if<std::string>()) {
    return text->empty() ? CheckedValue{.message =
                                            "must not be empty; the name of a CSV file is "
                                            "needed, or an array of points"}
                         : CheckedValue{.value = value};
  }
  if (const auto* array = value.get_if<TomlValue::Array>()) return check_list(value, *array);
  return {.message = fmt::format("must be {}, not {}", probe_points_text(), kind_of(value))};
}

void report_points(const ProbePoints& probes, int dimension, const std::vector<Index>& numbers,
                   const std::string& message, Findings& findings) {
  const std::size_t named = std::min(numbers.size(), kMaxNamed);
  for (std::size_t i = 0; i < named; ++i) {
    const auto number = static_cast<std::size_t>(numbers[i]);
    const std::size_t others = i + 1 == named ? numbers.size() - named : 0;
    Diagnostic diagnostic = findings.diagnostic(
        kProbesKey, others == 0
                        ? fmt::format("point {} {}", number + 1, message)
                        : fmt::format("point {} {}; so are {} more", number + 1, message, others));
    if (!probes.file.empty()) diagnostic.file = probes.file;
    if (probes.lines[number] > 0) diagnostic.line = probes.lines[number];
    diagnostic.value = point_text(probes.points[number], dimension);
    findings.report(std::move(diagnostic));
  }
}

ProbePoints Codec<ProbePoints>::from(const TomlValue& value) {
  ProbePoints probes;
  if (const auto* text = value.get_if<std::string>()) {
    probes.file = *text;
    return probes;
  }
  for (const TomlValue& entry : *value.get_if<TomlValue::Array>()) {
    const auto& numbers = *entry.get_if<TomlValue::Array>();
    Point point{};
    for (std::size_t d = 0; d < numbers.size(); ++d) point[d] = *numbers[d].get_if<double>();
    probes.points.push_back(point);
    probes.lines.push_back(entry.origin.line);
    probes.coordinates.push_back(static_cast<int>(numbers.size()));
  }
  return probes;
}

std::optional<TomlValue> Codec<ProbePoints>::to(const ProbePoints& probes) {
  if (!probes.file.empty()) return TomlValue{probes.file};
  if (probes.points.empty()) return std::nullopt;
  TomlValue::Array points;
  for (std::size_t i = 0; i < probes.points.size(); ++i) {
    TomlValue::Array point;
    for (int d = 0; d < probes.coordinates[i]; ++d) point.push_back({probes.points[i][d]});
    points.push_back({std::move(point)});
  }
  return TomlValue{std::move(points)};
}

}  // namespace tessera
