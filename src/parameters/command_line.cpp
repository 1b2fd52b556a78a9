// This file parses the command line with CLI11.
#include "src/parameters/command_line.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <map>
#include <sstream>

#include "src/parameters/limits.hpp"
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

constexpr char kSetHelp[] =
    "Override a key of the file; VALUE is TOML, a bare word is a string: --set operator.kernel=csr "
    "--set 'mesh.cells=[8, 8, 8]' (may be repeated)";

/// What the options of all subcommands write to; CLI11 keeps references to it.
struct Options {
  std::string file;
  std::vector<std::string> assignments;
  std::optional<std::string> directory;
  std::string restart;
  std::optional<std::string> csv;
  std::vector<std::string> inputs;
  std::string report;
  std::string plots;
  bool overwrite_report = false;
  std::optional<int> threads;
  bool overwrite = false;
  bool quiet = false;
  bool study = false;
  bool measure = false;
  ConvergenceCommand convergence;
  StudyCommand one_study;
  DefaultsFormat format = DefaultsFormat::toml;
};

CLI::Option* add_file(CLI::App& command, Options& options, const std::string& name,
                      const std::string& what) {
  CLI::Option* const file = command.add_option(name, options.file, what);
  file->required()->option_text("FILE");
  command.add_option("--set", options.assignments, kSetHelp)
      ->allow_extra_args(false)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
      ->option_text("KEY=VALUE");
  return file;
}

void add_quiet(CLI::App& command, Options& options) {
  command.add_flag("-q,--quiet", options.quiet, "Print errors and warnings only");
}

void add_threads(CLI::App& command, Options& options) {
  command
      .add_option("-t,--threads", options.threads,
                  "Threads on the CPU, 0 = all cores; as --set run.threads")
      ->option_text("N");
}

void add_run(CLI::App& app, Options& options) {
  CLI::App* command = app.add_subcommand("run", "Solve a case and write its results");
  CLI::Option* const file = add_file(
      *command, options, "CASE",
      "Case file (TOML); with --restart it may be left out, the case is that of the checkpoint");
  // Whether it can be left out is known when all is parsed.
  file->required(false);
  command
      ->add_option("--restart", options.restart,
                   "Go on from the last checkpoint in the directory of a run in time; the case may "
                   "differ in the end and the steps of [time], in [operator], [solver], [run] and "
                   "[output]")
      ->option_text("DIR");
  command
      ->add_option("-o,--output", options.directory,
                   "Directory for the results; as --set output.directory")
      ->option_text("DIR");
  command->add_flag("--overwrite", options.overwrite,
                    "Replace results already in the directory; as --set output.overwrite=true");
  add_threads(*command, options);
  add_quiet(*command, options);
  command->footer(
      "Examples:\n"
      "  tessera run case.toml\n"
      "  tessera run case.toml --set operator.kernel=local --output results/local --threads 4\n"
      "  tessera run --restart results/first --set time.end=2");
}

void add_check(CLI::App& app, Options& options) {
  CLI::App* command = app.add_subcommand(
      "check", "Validate a case: DoFs, memory by part and by strategy; solves nothing");
  add_file(*command, options, "CASE", "Case file (TOML)");
  command->footer("Example:\n  tessera check case.toml --set 'mesh.cells=[64, 64, 64]'");
}

void add_overwrite_report(CLI::App& command, Options& options) {
  command.add_flag("--overwrite", options.overwrite_report,
                   "Replace a file in the report's place that is not a report");
}

void add_report_option(CLI::App& command, Options& options) {
  command
      .add_option("--report", options.report,
                  "Write a page about the measurements, as tessera report does")
      ->option_text("FILE");
  add_overwrite_report(command, options);
}

void add_report(CLI::App& app, Options& options) {
  CLI::App* command = app.add_subcommand(
      "report", "Write a page about runs, comparisons and tables: plots, numbers, provenance");
  command
      ->add_option("INPUT", options.inputs,
                   "Directories of results, or that hold some, and CSV files of Tessera; the same "
                   "study from two machines is laid side by side")
      ->required()
      ->option_text("DIR|CSV...");
  command
      ->add_option("-o,--output", options.report,
                   "The page, which needs no other file (default: report.html, unless --plots)")
      ->option_text("FILE");
  command
      ->add_option("--plots", options.plots, "Write each plot as an SVG file into this directory")
      ->option_text("DIR");
  add_overwrite_report(*command, options);
  command->footer(
      "Plots are drawn by gnuplot (package gnuplot-nox).\n"
      "Examples:\n"
      "  tessera report results/poisson_3d -o report.html\n"
      "  tessera report laptop.csv server.csv -o two_machines.html");
}

void add_compare(CLI::App& app, Options& options) {
  CLI::App* command =
      app.add_subcommand("compare", "Measure the strategies that a study names, side by side");
  add_file(*command, options, "STUDY", "Study file (TOML); tessera defaults --study writes one");
  command
      ->add_option("--csv", options.csv,
                   "Write the measurements to this file; as --set study.output")
      ->option_text("FILE");
  add_report_option(*command, options);
  add_quiet(*command, options);
  command->footer(
      "Example:\n  tessera compare study.toml --set 'study.degrees=[2, 4]' --csv measurements.csv");
}

void add_convergence(CLI::App& app, Options& options) {
  constexpr int kMaxLevels = 30;
  CLI::App* command = app.add_subcommand(
      "convergence",
      "Solve a case that has `exact` on finer and finer meshes, or with [time] with shorter and "
      "shorter steps: errors and rates");
  add_file(*command, options, "CASE", "Case file (TOML) with problem.exact");
  ConvergenceCommand& chosen = options.convergence;
  command
      ->add_option(
          "--degrees", chosen.degrees,
          "Degrees, such as 1,2,3; default: the case's and, without [time], those next to it")
      ->delimiter(',')
      ->check(CLI::Range(1, kMaxDegree))
      ->option_text("P,...");
  command
      ->add_option("--levels", chosen.levels,
                   "Meshes for each degree, each with twice the cells of the one before it along "
                   "each axis (default 4); the last one is the case's, or finer if the case's "
                   "cells cannot be halved so often; with [time], lengths of steps: the case's, a "
                   "half of it, ...")
      ->check(CLI::Range(1, kMaxLevels))
      ->option_text("N");
  command
      ->add_option("--max-dofs", chosen.max_dofs,
                   "Leave out meshes with more DoFs (default: those that do not fit into memory)")
      ->check(CLI::PositiveNumber)
      ->option_text("N");
  command
      ->add_option("--time-limit", chosen.time_limit_s,
                   "Leave out meshes or steps that are foreseen to take longer (default 60)")
      ->check(CLI::PositiveNumber)
      ->option_text("SECONDS");
  command->add_option("--csv", chosen.csv, "Write the table to this file")->option_text("FILE");
  command
      ->add_option("--plot", chosen.plot,
                   "Draw errors in L2 and their rates into this SVG file (by gnuplot, package "
                   "gnuplot-nox)")
      ->option_text("FILE");
  add_report_option(*command, options);
  add_threads(*command, options);
  add_quiet(*command, options);
  command->footer(
      "An error that is near what rounding leaves has no rate but the word rounding. The last "
      "rates\n"
      "that are not lost in rounding are judged: less than degree + 1 in L2 or degree in H1 by "
      "more\n"
      "than 0.3, and not rising any more, is too low, and the exit code is 2.\n\n"
      "Examples:\n"
      "  tessera convergence case.toml\n"
      "  tessera convergence case.toml --degrees 1,2,4,8 --levels 5 --csv rates.csv");
}

void add_study_rows(CLI::App& command, StudyCommand& chosen) {
  constexpr int kMaxThreads = 4096;
  constexpr int kMaxRepetitions = 1'000'000;
  command
      .add_option("--threads", chosen.threads,
                  "Numbers of threads, such as 1,2,4, one a physical core (default: those of "
                  "1,2,4,8,16 that there are cores for)")
      ->delimiter(',')
      ->check(CLI::Range(1, kMaxThreads))
      ->option_text("N,...");
  command
      .add_option("--repetitions", chosen.repetitions,
                  "Repetitions of a row (default 100; with --quick 10)")
      ->check(CLI::Range(kLeastStudyRepetitions, kMaxRepetitions))
      ->option_text("N");
  command
      .add_option("--time-limit", chosen.time_limit_s,
                  "Seconds after which a row is repeated no more, once it was repeated 5 times "
                  "(default 2; with --quick 0.25)")
      ->check(CLI::PositiveNumber)
      ->option_text("SECONDS");
  command.add_option("--seed", chosen.seed, "Of all random numbers (default 1)")->option_text("N");
  command.add_option("--only", chosen.only, "Measure these variants only")
      ->delimiter(',')
      ->option_text("VARIANT,...");
  command.add_flag_callback(
      "--quick", [&chosen] { chosen.size = StudySize::quick; },
      "Smaller and fewer: within a minute on two cores");
}

void add_study(CLI::App& app, Options& options) {
  CLI::App* command = app.add_subcommand(
      "study",
      "Measure how threads or GPU blocks share data, and judge what documents claim about it");
  StudyCommand& chosen = options.one_study;
  command
      ->add_option("NAME", chosen.study, "The study; without it, the table of studies is printed")
      ->option_text("NAME");
  command->add_option("--device", chosen.device, "Where: cpu (default) or cuda")
      ->check(CLI::IsMember({"cpu", "cuda"}))
      ->option_text("cpu|cuda");
  add_study_rows(*command, chosen);
  command
      ->add_option("--csv", chosen.csv,
                   "Write the rows to this file, and the claims beside it, to *_claims.csv")
      ->option_text("FILE");
  add_report_option(*command, options);
  add_quiet(*command, options);
  // What one study alone has is checked with the study's row of the table.
  command->allow_extras();
  command->footer(
      "tessera study tells which studies there are and what options each has of its own.\n"
      "Exit code: 0 whatever becomes of the claims, 2 if a result is wrong.\n\n"
      "Examples:\n"
      "  tessera study\n"
      "  tessera study synchronization --quick\n"
      "  tessera study synchronization --threads 1,2 --only atomic,mutex --csv rows.csv");
}

void add_defaults(CLI::App& app, Options& options) {
  CLI::App* command = app.add_subcommand(
      "defaults", "Print a commented file with every key, its schema or its reference");
  const std::map<std::string, DefaultsFormat> formats = {{"toml", DefaultsFormat::toml},
                                                         {"schema", DefaultsFormat::schema},
                                                         {"markdown", DefaultsFormat::markdown}};
  command
      ->add_option_function<std::string>(
          "--format",
          [&options, formats](const std::string& name) { options.format = formats.at(name); },
          "toml: a file to start from (default) | schema: JSON Schema for editors | markdown: "
          "reference of the keys")
      ->check(CLI::IsMember({"toml", "schema", "markdown"}))
      ->option_text("toml|schema|markdown");
  command->add_flag_callback(
      "--schema", [&options] { options.format = DefaultsFormat::schema; }, "As --format schema");
  command->add_flag_callback(
      "--reference", [&options] { options.format = DefaultsFormat::markdown; },
      "As --format markdown");
  command->add_flag("--study", options.study, "Of study files rather than case files");
  command->footer(
      "Examples:\n"
      "  tessera defaults > case.toml\n"
      "  tessera defaults --study > study.toml\n"
      "  tessera defaults --format schema > case.schema.json");
}

Override option_override(std::string_view key, const std::string& value, std::string shown_as) {
  return {.assignment = fmt::format("{}={}", key, value), .shown_as = std::move(shown_as)};
}

std::vector<Override> collect_overrides(const Options& options) {
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

void add_info(CLI::App& app, Options& options) {
  CLI::App* command = app.add_subcommand(
      "info", "Print what the machine has: cores, SIMD, GPUs, bandwidths, peaks");
  command->add_flag("--measure", options.measure,
                    "Measure bandwidths and peaks anew; else those of the last time are printed");
}

Command make_command(const std::string& name, const Options& options) {
  const Overwrite overwrite = options.overwrite_report ? Overwrite::yes : Overwrite::no;
  const Verbosity verbosity = options.quiet ? Verbosity::quiet : Verbosity::normal;
  if (name == "run") {
    if (options.file.empty() && options.restart.empty()) {
      return usage_error("CASE is required", "tessera run --help");
    }
    return RunCommand{options.file, collect_overrides(options), verbosity, options.restart};
  }
  if (name == "check") return CheckCommand{options.file, collect_overrides(options)};
  if (name == "compare") {
    return CompareCommand{options.file, collect_overrides(options), verbosity, options.report,
                          overwrite};
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
  Options options;
  CLI::App app("Tessera solves elliptic problems with matrix-free finite elements.", "tessera");
  app.set_version_flag("--version", std::string(version), "Print the version and exit");
  app.set_help_flag("-h,--help", "Print this help and exit");
  app.footer(kExamples);
  app.require_subcommand(1);
  add_run(app, options);
  add_check(app, options);
  add_compare(app, options);
  add_convergence(app, options);
  add_study(app, options);
  add_report(app, options);
  add_defaults(app, options);
  app.add_subcommand("list", "Print the strategies and what each can do, and the preconditioners");
  add_info(app, options);

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
