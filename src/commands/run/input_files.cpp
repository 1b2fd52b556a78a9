// This file looks for inputs among the results of a directory.
#include "src/commands/run/input_files.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <string>
#include <system_error>
#include <vector>

#include "postprocess/files/output_directory.hpp"
#include "src/case/setup.hpp"
#include "src/commands/time/time_json.hpp"
#include "src/parameters/toml/reader.hpp"

namespace tessera {
namespace {

namespace fs = std::filesystem;

// Whether nothing in it is the user's: no comment, no order of keys.
bool is_written_by_a_run(const std::string& case_file) {
  try {
    const std::string text = read_text_file(case_file);
    return repeatable_text(make_case_registry().parse(text, case_file).parameters) ==
           without_restart_comment(text);
  } catch (const InputError&) {
    return false;
  }
}

// The input that would be lost; empty if none would.
std::string lost_input(const LoadedCase& loaded, const RunCommand& command,
                       const Restart* restart) {
  std::vector<fs::path> inputs = {command.case_file, loaded.parameters.output.probes.file};
  if (restart != nullptr && restart->place == RestartPlace::other_directory) {
    inputs.push_back(restart->found.path);
  }
  const fs::path directory = loaded.parameters.output.directory;
  for (const std::string& name : results_in(directory)) {
    for (const fs::path& input : inputs) {
      std::error_code missing;
      if (!fs::equivalent(input, directory / name, missing)) continue;
      if (input != command.case_file || !is_written_by_a_run(command.case_file)) {
        return input.string();
      }
    }
  }
  return "";
}

}  // namespace

void require_inputs_stay(const LoadedCase& loaded, const RunCommand& command,
                         const Restart* restart, const Communicator& ranks) {
  const std::string lost =
      ranks.broadcast(ranks.rank() == 0 ? lost_input(loaded, command, restart) : std::string());
  if (lost.empty()) return;
  throw InputError({loaded.findings.diagnostic(
      "output.directory",
      fmt::format("a result would take the place of {}, which this run reads; choose another "
                  "directory",
                  lost))});
}

}  // namespace tessera
