// These functions say on the screen and in result.json what is known at probes.
#pragma once

#include <nlohmann/json.hpp>
#include <span>
#include <string>

#include "postprocess/probes/probes.hpp"

namespace tessera {

/// The first few probes, as a run prints them.
std::string probe_table(std::span<const Point> points, const ProbeValues& values, int dimension);

/// "probes" of result.json: an array of all of them; null where there are too many for it, which
/// are in probes.csv.
nlohmann::ordered_json probes_json(std::span<const Point> points, const ProbeValues& values);

}  // namespace tessera
