// These functions write what results say of a run in time.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "postprocess/series/time_summary.hpp"
#include "src/commands/time/restart.hpp"

namespace tessera {

/// "time" of result.json.
nlohmann::ordered_json time_json(const TimeSummary& time);

/// "restart" of result.json: the checkpoint, and what there was before it.
nlohmann::ordered_json restart_json(const Restart& restart);

/// The comment at the begin of case.toml of a run that went on.
std::string restart_comment(const Restart& restart);

}  // namespace tessera
