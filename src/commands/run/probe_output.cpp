// This file makes the table of probes and their part of result.json.
#include "src/commands/run/probe_output.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "postprocess/files/text_table.hpp"
#include "src/commands/run/solution_file.hpp"

namespace tessera {
namespace {

constexpr std::size_t kMaxInTable = 5;
constexpr std::size_t kMaxInJson = 1000;

}  // namespace

std::string probe_table(std::span<const Point> points, const ProbeValues& values, int dimension) {
  const std::size_t shown = std::min(points.size(), kMaxInTable);
  const bool has_exact = !values.exact.empty();
  std::vector<TextTable::Column> columns = {{"  probe", Align::right}};
  for (int d = 0; d < dimension; ++d) columns.push_back({std::string(1, "xyz"[d])});
  columns.push_back({"u"});
  if (has_exact) columns.push_back({"error"});
  TextTable table(std::move(columns));
  for (std::size_t i = 0; i < shown; ++i) {
    std::vector<std::string> row = {fmt::format("{}", i + 1)};
    for (int d = 0; d < dimension; ++d) row.push_back(fmt::format("{:.6g}", points[i][d]));
    row.push_back(fmt::format("{:.10g}", values.u[i]));
    if (has_exact) row.push_back(fmt::format("{:.3g}", values.u[i] - values.exact[i]));
    table.add_row(std::move(row));
  }
  const std::string more = shown < points.size() ? fmt::format("  ... {} more are in probes.csv\n",
                                                               points.size() - shown)
                                                 : "";
  return table.text() + more;
}

nlohmann::ordered_json probes_json(std::span<const Point> points, const ProbeValues& values) {
  using Json = nlohmann::ordered_json;
  if (points.size() > kMaxInJson) return nullptr;
  Json all = Json::array();
  for (std::size_t i = 0; i < points.size(); ++i) {
    const auto& [x, y, z] = points[i];
    Json probe = {{"x", x}, {"y", y}, {"z", z}, {"u", values.u[i]}};
    if (!values.exact.empty()) {
      probe["exact"] = values.exact[i];
      probe["error"] = values.u[i] - values.exact[i];
    }
    all.push_back(std::move(probe));
  }
  return all;
}

ExactColumns exact_columns(const CaseParameters& parameters) {
  return parameters.problem.exact ? ExactColumns::yes : ExactColumns::no;
}

std::string probe_series_header(const CaseParameters& parameters) {
  return probe_series_header(program_name(), parameters.output.probes.points,
                             exact_columns(parameters));
}

}  // namespace tessera
