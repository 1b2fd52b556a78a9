// ProbePoints are points at which a case's solution is asked for.
#pragma once

#include <string>
#include <vector>

#include "mesh/index.hpp"
#include "src/parameters/codec.hpp"
#include "src/parameters/messages/findings.hpp"
#include "src/parameters/reference/key_description.hpp"

namespace tessera {

/// Points that a file lists, or the CSV file that holds them.
struct ProbePoints {
  /// Relative to the working directory; empty if the points are listed.
  std::string file = {};
  /// Read from the file when the case is checked.
  std::vector<Point> points = {};
  /// Where each was written; 0 = not known.
  std::vector<int> lines = {};
  /// How many numbers each listed point has.
  std::vector<int> coordinates = {};
};

/// The key of a case's points.
inline constexpr char kProbesKey[] = "output.probes";
/// Reports what is wrong with these points, each with its file and line, but the first few of them
/// only. @param numbers of the points, increasing
void report_points(const ProbePoints& probes, int dimension, const std::vector<Index>& numbers,
                   const std::string& message, Findings& findings);

/// What a file may have, as allowed_text().
std::string probe_points_text();

/// Checks the name of a file or an array of points; numbers become doubles.
CheckedValue check_probe_points(const TomlValue& value);

template <>
struct Codec<ProbePoints> {
  static constexpr ValueType type = ValueType::points;
  static constexpr Shape shape = Shape::scalar;
  static std::vector<std::string> choices() { return {}; }
  static ProbePoints from(const TomlValue& value);
  static std::optional<TomlValue> to(const ProbePoints& probes);
};

}  // namespace tessera
