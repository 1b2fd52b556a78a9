// This file has the keys of "time" and "restart" in result.json.
#include "src/commands/time/time_json.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "src/parameters/toml/value.hpp"

namespace tessera {
namespace {

constexpr std::string_view kCommentBegin = "# This run went on from t = ";
constexpr std::string_view kSecondLine =
    "# If method, steps or solver were others before, this case does not repeat it.\n";

}  // namespace

nlohmann::ordered_json time_json(const TimeSummary& time) {
  using Json = nlohmann::ordered_json;
  Json error;
  if (const auto& most = time.max_error) {
    error = {{"l2", most->l2}, {"h1_seminorm", most->h1_seminorm}, {"max", most->max}};
  }
  return {{"method", time.method},
          {"order", time.order},
          {"start", time.start},
          {"end", time.end},
          {"steps", time.steps},
          {"rejected", time.rejected},
          {"outputs", time.outputs},
          {"linear_iterations", time.linear_iterations},
          {"nonlinear_iterations", time.nonlinear_iterations},
          {"smallest_step", time.smallest_step},
          {"largest_step", time.largest_step},
          {"max_error", error}};
}

nlohmann::ordered_json restart_json(const Restart& restart) {
  const TimeSummary& before = restart.found.checkpoint.time;
  return {{"checkpoint", restart.found.path.string()},
          {"t", restart.t()},
          {"method", before.method},
          {"order", before.order},
          {"steps", before.steps},
          {"linear_iterations", before.linear_iterations}};
}

std::string restart_comment(const Restart& restart) {
  const TimeSummary& before = restart.found.checkpoint.time;
  return fmt::format("{}{:g} of {}, reached by {} of order {}.\n{}", kCommentBegin, restart.t(),
                     toml_text(TomlValue{restart.found.path.string()}), before.method, before.order,
                     kSecondLine);
}

std::string_view without_restart_comment(std::string_view case_text) {
  if (!case_text.starts_with(kCommentBegin)) return case_text;
  const std::string_view rest =
      case_text.substr(std::min(case_text.find('\n'), case_text.size() - 1) + 1);
  return rest.starts_with(kSecondLine) ? rest.substr(kSecondLine.size()) : case_text;
}

}  // namespace tessera
