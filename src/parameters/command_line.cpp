// This file parses the command line with CLI11.
#include "src/parameters/command_line.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <sstream>

#include "src/parameters/command_options.hpp"
#include "src/parameters/messages/suggestion.hpp"

namespace tessera {

namespace {

constexpr int kUsageError = 1;

constexpr char kExamples[] = R"(Examples:
  tessera defaults > case.toml                    a commented case file to start from
  tessera check case.toml                         what the run needs, without solving
  tessera run case.toml --output results/first
  tessera run case.toml --set space.degree=6 --set 'mesh.cells=[16, 16, 16]'
  tessera compare study.toml --csv measurements.csv
  tessera convergence case.toml --degrees 1,2,3 --csv rates.csv
  tessera study synchronization --quick           an experiment on how threads share data
  tessera report results/first measurements.csv -o report.html

Exit codes: 0 done, 1 usage or input error, 2 not converged (run), strategies that disagree
(compare), rates that are too low (convergence) or wrong results (study), 3 out of memory, disk or
GPU, 130 interrupted.)";

Override option_override(std::string_view key, const std::string& value, std::string shown_as) {
  return {.assignment = fmt::format("{}={}", key, value), .shown_as = std::move(shown_as)};
}

std::vector<Override> collect_overrides(const CommandOptions& options) {
  std::vector<Override> overrides;
  for (const std::string& assignment : options.assignments) overrides.push_back({assignment});
  if (options.directory) {
    overrides.push_back(option_override("output.directory", quote(*options.directory),
                                        "--output " + *options.directory));
  }
  if (options.overwrite) {
    overrides.push_back(option_override("output.overwrite", "true", "--overwrite"));
  }
  if (options.threads) {
    overrides.push_back(option_override("run.threads", std::to_string(*options.threads),
                                        fmt::format("--threads {}", *options.threads)));
  }
  if (options.csv) {
    overrides.push_back(
        option_override("study.output", quote(*options.csv), "--csv " + *options.csv));
  }
  return overrides;
}

std::vector<std::string> command_names(CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands([](CLI::App*) { return true; })) {
    names.push_back(command->get_name());
  }
  return names;
}

FinishedCommand usage_error(const std::string& message, const std::string& help) {
  return {.exit_code = kUsageError,
          .standard_error = fmt::format("tessera: {}\n{} tells more.\n", message, help)};
}

/// The mistakes in which command is meant, which CLI11 would report as an extra argument.
std::optional<FinishedCommand> check_command_name(int argc, const char* const* argv,
                                                  const std::vector<std::string>& names) {
  if (argc < 2) return std::nullopt;
  const std::string name = argv[1];
  if (name.starts_with('-')) {
    if (name == "--help" || name == "-h" || name == "--version") return std::nullopt;
    return usage_error(fmt::format("\"{}\" is not an option here; options follow their command, as "
                                   "in tessera run case.toml --quiet",
                                   name),
                       "tessera --help");
  }
  if (std::find(names.begin(), names.end(), name) != names.end()) return std::nullopt;
  std::string message = fmt::format("\"{}\" is not a command; ", name);
  if (name.ends_with(".toml")) {
    message += fmt::format("did you mean tessera run {}?", name);
  } else if (const auto meant = nearest(name, names)) {
    message += fmt::format("did you mean {}?", *meant);
  } else {
    message += fmt::format("the commands are {}", fmt::join(names, ", "));
  }
  return usage_error(message, "tessera --help");
}

/// What a misspelled option was meant to be, for the arguments that the command does not know.
std::string unknown_option_message(const CLI::App& command, int argc, const char* const* argv,
                                   const std::string& otherwise) {
  std::vector<std::string> names;
  for (const CLI::Option* option : command.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back(fmt::format("--{}", name));
  }
  for (int i = 2; i < argc; ++i) {
    const std::string argument = argv[i];
    const std::string name = argument.substr(0, argument.find('='));
    if (!name.starts_with("--") || std::find(names.begin(), names.end(), name) != names.end()) {
      continue;
    }
    if (const auto meant = nearest(name, names)) {
      return fmt::format("unknown option {}; did you mean {}?", name, *meant);
    }
  }
  return otherwise;
}

Command make_command(const std::string& name, const CommandOptions& options) {
  const Overwrite overwrite = options.overwrite_files ? Overwrite::yes : Overwrite::no;
  const Verbosity verbosity = options.quiet ? Verbosity::quiet : Verbosity::normal;
  const LaunchReports launches = options.launches ? LaunchReports::yes : LaunchReports::no;
  if (name == "run") {
    if (options.file.empty() && options.restart.empty()) {
      return usage_error("CASE is required", "tessera run --help");
    }
    return RunCommand{options.file, collect_overrides(options), verbosity, options.restart,
                      launches};
  }
  if (name == "check") return CheckCommand{options.file, collect_overrides(options), options.ranks};
  if (name == "compare") {
    return CompareCommand{
        options.file, collect_overrides(options), verbosity, options.report, overwrite, launches};
  }
  if (name == "report") {
    const bool is_default = options.report.empty() && options.plots.empty();
    return ReportCommand{options.inputs, is_default ? "report.html" : options.report, options.plots,
                         overwrite};
  }
  if (name == "convergence") {
    ConvergenceCommand command = options.convergence;
    command.case_file = options.file;
    command.overrides = collect_overrides(options);
    command.verbosity = verbosity;
    std::sort(command.degrees.begin(), command.degrees.end());
    command.degrees.erase(std::unique(command.degrees.begin(), command.degrees.end()),
                          command.degrees.end());
    command.report = options.report;
    command.overwrite = overwrite;
    return command;
  }
  if (name == "study") {
    StudyCommand command = options.one_study;
    std::sort(command.threads.begin(), command.threads.end());
    command.threads.erase(std::unique(command.threads.begin(), command.threads.end()),
                          command.threads.end());
    command.report = options.report;
    command.overwrite = overwrite;
    command.verbosity = verbosity;
    return command;
  }
  if (name == "defaults") {
    return DefaultsCommand{options.study ? FileKind::study_file : FileKind::case_file,
                           options.format};
  }
  if (name == "list") return ListCommand{};
  return InfoCommand{options.measure ? Measure::anew : Measure::once};
}

}  // namespace

Command parse_command_line(int argc, const char* const* argv, std::string_view version) {
  CommandOptions options;
  CLI::App app("Tessera solves elliptic and parabolic problems with matrix-free finite elements.",
               "tessera");
  app.set_version_flag("--version", std::string(version), "Print the version and exit");
  app.set_help_flag("-h,--help", "Print this help and exit");
  app.footer(kExamples);
  app.require_subcommand(1);
  add_commands(app, options);

  if (const auto finished = check_command_name(argc, argv, command_names(app))) return *finished;
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    // CLI11's own codes for errors are all above 100; help and version have 0.
    if (error.get_exit_code() == 0) {
      std::ostringstream output;
      std::ostringstream ignored;
      app.exit(error, output, ignored);
      return FinishedCommand{.standard_output = output.str()};
    }
    const auto chosen = app.get_subcommands();
    if (chosen.empty()) {
      return usage_error(
          fmt::format("a command is needed: {}", fmt::join(command_names(app), ", ")),
          "tessera --help");
    }
    const CLI::App& command = *chosen.front();
    return usage_error(unknown_option_message(command, argc, argv, error.what()),
                       fmt::format("tessera {} --help", command.get_name()));
  }
  const CLI::App& command = *app.get_subcommands().front();
  options.one_study.own = command.remaining();
  options.one_study.arguments.assign(argv + 2, argv + argc);
  return make_command(command.get_name(), options);
}

}  // namespace tessera
