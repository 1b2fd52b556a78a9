// CommandOptions are the options of all commands, as CLI11 reads them.
#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <vector>

#include "src/parameters/command_line.hpp"

namespace tessera {

/// What the options of all subcommands write to; CLI11 keeps references to it.
struct CommandOptions {
  std::string file;
  std::vector<std::string> assignments;
  std::optional<std::string> directory;
  std::string restart;
  std::optional<std::string> csv;
  std::vector<std::string> inputs;
  std::string report;
  std::string plots;
  bool overwrite_files = false;
  std::optional<int> threads;
  int ranks = 1;
  bool overwrite = false;
  bool quiet = false;
  bool study = false;
  bool measure = false;
  bool launches = false;
  ConvergenceCommand convergence;
  StudyCommand one_study;
  DefaultsFormat format = DefaultsFormat::toml;
};

/// Declares the commands with their options and help; parsing writes to `options`.
void add_commands(CLI::App& app, CommandOptions& options);

}  // namespace tessera
