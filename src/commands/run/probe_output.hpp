// These functions say on the screen, in result.json and in time what is known at probes.
#pragma once

#include <nlohmann/json.hpp>
#include <span>
#include <string>

#include "postprocess/probes/probes.hpp"
#include "postprocess/series/probe_series.hpp"
#include "src/parameters/case_parameters.hpp"

namespace tessera {

/// The first few probes, as a run prints them.
std::string probe_table(std::span<const Point> points, const ProbeValues& values, int dimension);

/// "probes" of result.json: an array of all of them; null where there are too many for it, which
/// are in probes.csv.
nlohmann::ordered_json probes_json(std::span<const Point> points, const ProbeValues& values);

/// Whether probes.csv has exact values.
ExactColumns exact_columns(const CaseParameters& parameters);

/// What probes.csv of a run in time begins with.
std::string probe_series_header(const CaseParameters& parameters);

}  // namespace tessera
