// These functions write what results say of a run in time.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "postprocess/series/time_summary.hpp"
#include "src/commands/time/restart.hpp"

namespace tessera {

/// "time" of result.json.
nlohmann::ordered_json time_json(const TimeSummary& time);

/// "restart" of result.json: the checkpoint, and what there was before it.
nlohmann::ordered_json restart_json(const Restart& restart);

/// The lines at the begin of case.toml of a run that went on, which are a comment.
std::string restart_comment(const Restart& restart);
/// The text of a case.toml without these lines; all of it if it has none.
std::string_view without_restart_comment(std::string_view case_text);

}  // namespace tessera
