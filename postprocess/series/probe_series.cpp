// This file writes what probes have at a time.
#include "postprocess/series/probe_series.hpp"

#include <fmt/format.h>

#include <iterator>

namespace tessera {

std::string probe_series_header(const std::string& program, std::span<const Point> points,
                                ExactColumns exact) {
  std::string text = fmt::format("# {}\n", program);
  const auto out = std::back_inserter(text);
  for (std::size_t i = 0; i < points.size(); ++i) {
    const auto& [x, y, z] = points[i];
    fmt::format_to(out, "# u{}: {}, {}, {}\n", i + 1, x, y, z);
  }
  text += 't';
  for (std::size_t i = 1; i <= points.size(); ++i) fmt::format_to(out, ",u{}", i);
  if (exact == ExactColumns::yes) {
    for (std::size_t i = 1; i <= points.size(); ++i) fmt::format_to(out, ",exact{}", i);
  }
  return text + '\n';
}

std::string probe_series_line(double t, const ProbeValues& values, ExactColumns exact) {
  std::string text = fmt::format("{}", t);
  const auto out = std::back_inserter(text);
  for (const double u : values.u) fmt::format_to(out, ",{}", u);
  if (exact == ExactColumns::yes && values.exact.empty()) text.append(values.u.size(), ',');
  if (exact == ExactColumns::yes) {
    for (const double u : values.exact) fmt::format_to(out, ",{}", u);
  }
  return text + '\n';
}

}  // namespace tessera
