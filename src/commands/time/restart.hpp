// A Restart is what `tessera run --restart DIR` goes on from.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "postprocess/checkpoint/checkpoint.hpp"
#include "solvers/ranks/communicator.hpp"
#include "src/case/setup.hpp"
#include "src/case/time/time_case.hpp"
#include "src/parameters/command_line.hpp"

namespace tessera {

/// Whether results go to the directory of those that came before.
enum class RestartPlace { same_directory, other_directory };

/// A checkpoint, and the case that goes on from it.
struct Restart {
  /// Of the earlier run.
  std::filesystem::path directory;
  FoundCheckpoint found;
  LoadedCase loaded;
  RestartPlace place = RestartPlace::same_directory;

  double t() const { return found.checkpoint.time.end; }
  bool is_done() const {
    const TimeParameters& time = *loaded.parameters.time;
    return time.end - t() <= time_rounding(time);
  }
  /// What there is to say of it.
  std::vector<std::string> notes() const;
  /// What of the directory of the results stays.
  std::vector<std::string> kept_files() const;
};

/// Reads the last checkpoint of command.restart and the case: command.case_file or, if it is empty,
/// that of the checkpoint. Results go to the directory of the earlier run, unless the command line
/// names another one.
/// @param ranks that go on from it; all of them call this together
/// @throws CheckpointError if there is no checkpoint that can be read, or ranks find different
/// ones;
///     InputError if the case has no [time], ends before the checkpoint, or differs in mesh, space,
///     problem, boundary or what u was at start; or in probes, where the table of the earlier ones
///     would be lost and nothing says that it may be
Restart load_restart(const RunCommand& command, const Communicator& ranks = single_rank());

}  // namespace tessera
