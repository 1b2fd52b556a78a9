// This file compares a case with the one of a checkpoint.
#include "src/commands/time/restart.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>
#include <string_view>
#include <system_error>
#include <utility>

#include "postprocess/series/kept_lines.hpp"
#include "src/case/ranks/shared_text.hpp"
#include "src/commands/run/probe_output.hpp"
#include "src/parameters/toml/reader.hpp"

namespace tessera {
namespace {

namespace fs = std::filesystem;

// Of what u is.
bool must_agree(std::string_view key) {
  for (const char* table : {"mesh.", "space.", "problem.", "boundary."}) {
    if (key.starts_with(table)) return true;
  }
  return key == "time.start" || key == "time.initial";
}

std::string value_text(const std::optional<TomlValue>& value) {
  return value ? toml_text(*value) : "left out";
}

void compare(const CaseParameters& before, const fs::path& file, LoadedCase& loaded) {
  const auto registry = make_case_registry();
  const auto old_values = registry.fetch_all(before);
  const auto values = registry.fetch_all(loaded.parameters);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::string& key = registry.keys()[i].name;
    if (!must_agree(key)) continue;
    const std::string now = value_text(values[i]);
    const std::string then = value_text(old_values[i]);
    if (now == then) continue;
    loaded.findings.report(
        key,
        fmt::format("must be as in {}, where it is {}{}; a restart may change the end, method, "
                    "steps and intervals of [time], [nonlinear], [operator], [solver], [run] and "
                    "[output]",
                    file.string(), then,
                    loaded.findings.is_written(key) ? "" : fmt::format(", not {}", now)));
  }
}

void check_end(double t, const fs::path& file, LoadedCase& loaded) {
  if (!loaded.parameters.time) {
    loaded.findings.report("time.end",
                           fmt::format("must be given to go on from {}", file.string()));
  } else if (const TimeParameters& time = *loaded.parameters.time;
             time.end < t - time_rounding(time)) {
    loaded.findings.report("time.end", fmt::format("must be at least {}, the time of {}",
                                                   number_text(t), file.string()));
  }
}

bool same_directory(const fs::path& a, const fs::path& b) {
  std::error_code missing;
  return fs::equivalent(a, b, missing);
}

// What the table says of its probes, where going on would lose its lines; else empty.
std::string lost_probes(const fs::path& table, const CaseParameters& parameters, double t) {
  std::error_code ignored;
  if (!fs::exists(table, ignored)) return "";
  const std::string text = read_text_file(table.string());
  if (lines_until(text, probe_series_header(parameters), t)) return "";
  constexpr std::string_view kBegin = "# u";
  constexpr std::size_t kMaxNamed = 3;
  std::vector<std::string> places;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line) && line.starts_with('#');) {
    if (!line.starts_with(kBegin)) continue;
    places.push_back(places.size() < kMaxNamed ? line.substr(2) : "...");
    if (places.size() > kMaxNamed) break;
  }
  return places.empty() ? "other columns" : fmt::format("{}", fmt::join(places, "; "));
}

void check_probes(const fs::path& directory, double t, const Communicator& ranks,
                  LoadedCase& loaded) {
  const fs::path table = directory / "probes.csv";
  const std::string lost =
      ranks.broadcast(ranks.rank() == 0 ? lost_probes(table, loaded.parameters, t) : "");
  if (lost.empty()) return;
  loaded.findings.report(
      "output.probes",
      fmt::format("must be as in {} ({}), which would lose its earlier lines; --overwrite gives "
                  "them up, --output DIR leaves them where they are",
                  table.string(), lost));
}

RestartPlace find_place(const fs::path& directory, const LoadedCase& loaded) {
  const bool is_named = loaded.findings.is_written("output.directory", Layer::override_option);
  return is_named && !same_directory(loaded.parameters.output.directory, directory)
             ? RestartPlace::other_directory
             : RestartPlace::same_directory;
}

}  // namespace

Restart load_restart(const RunCommand& command, const Communicator& ranks) {
  const auto registry = make_case_registry();
  const fs::path directory = command.restart;
  FoundCheckpoint found = find_checkpoint(directory);
  const std::string file = found.path.string();
  const std::string mine = fmt::format("{} of t = {}", file, found.checkpoint.time.end);
  if (ranks.any(mine != ranks.broadcast(mine))) {
    throw CheckpointError(found.path, "it is not the last checkpoint for all processes");
  }
  const CaseParameters before = registry.parse(found.checkpoint.case_text, file).parameters;
  LoadedCase loaded = command.case_file.empty()
                          ? registry.parse(found.checkpoint.case_text, file, command.overrides)
                          : registry.parse(shared_text(command.case_file, ranks), command.case_file,
                                           command.overrides);
  compare(before, found.path, loaded);
  check_end(found.checkpoint.time.end, found.path, loaded);
  loaded.findings.throw_if_any();
  const RestartPlace place = find_place(directory, loaded);
  if (place == RestartPlace::same_directory && !loaded.parameters.output.overwrite) {
    check_probes(directory, found.checkpoint.time.end, ranks, loaded);
    loaded.findings.throw_if_any();
  }
  if (place == RestartPlace::same_directory) loaded.parameters.output.directory = command.restart;
  // Of the case, as the checkpoint has it.
  found.checkpoint.time.method = name_of(before.time->method);
  found.checkpoint.time.order = before.time->order;
  return {directory, std::move(found), std::move(loaded), place};
}

std::vector<std::string> Restart::notes() const {
  std::vector<std::string> notes;
  if (!found.complaint.empty()) {
    notes.push_back(fmt::format("{}; the checkpoint before it is taken", found.complaint));
  }
  notes.push_back(
      fmt::format("goes on from t = {:.6g} of {}; steps and iterations are counted "
                  "from the first start on, times from this one",
                  t(), found.path.string()));
  if (loaded.parameters.time->method == TimeMethod::bdf) {
    notes.emplace_back("bdf begins again with order 1: a checkpoint has no earlier steps");
  }
  return notes;
}

std::vector<std::string> Restart::kept_files() const {
  if (place == RestartPlace::other_directory) return {};
  std::vector<std::string> names = {kCheckpointName, kPreviousCheckpointName, "steps.csv"};
  if (!loaded.parameters.output.probes.points.empty()) names.emplace_back("probes.csv");
  // The animation stays until there is a new one.
  names.emplace_back("animation.png");
  std::error_code ignored;
  for (const fs::directory_entry& entry : fs::directory_iterator(directory, ignored)) {
    std::string name = entry.path().filename().string();
    const auto number = solution_number(name);
    if (number && *number <= found.checkpoint.series.last_number) names.push_back(std::move(name));
  }
  return names;
}

}  // namespace tessera
