// This file declares the commands and their options to CLI11.
#include "src/parameters/command_options.hpp"

#include <charconv>
#include <cmath>
#include <cstdint>
#include <map>
#include <string>

#include "src/parameters/limits.hpp"

namespace tessera {
namespace {

// CLI::PositiveNumber tells of all digits of the largest number.
const CLI::Validator kPositiveSeconds(
    [](std::string& text) {
      double seconds = 0.0;
      return CLI::detail::lexical_cast(text, seconds) && seconds > 0.0 && std::isfinite(seconds)
                 ? std::string()
                 : text + " is not allowed; a number of seconds above 0 is";
    },
    "");

// A number of DoFs, such as 1e6: its digits take its place.
const CLI::Validator kDofCount(
    [](std::string& text) {
      constexpr double kMost = 9e15;
      double count = 0.0;
      if (!CLI::detail::lexical_cast(text, count) || !(count >= 1.0 && count <= kMost) ||
          count != std::floor(count)) {
        return text + " is not allowed; a whole number from 1 to 9e15 is, such as 1e6";
      }
      text = std::to_string(static_cast<std::int64_t>(count));
      return std::string();
    },
    "");

const CLI::Validator kSeed(
    [](std::string& text) {
      std::uint64_t seed = 0;
      const char* const end = text.data() + text.size();
      const auto [stop, error] = std::from_chars(text.data(), end, seed);
      return error == std::errc() && stop == end
                 ? std::string()
                 : text + " is not allowed; a whole number from 0 to 18446744073709551615 is";
    },
    "");

constexpr char kSetHelp[] =
    "Override a key of the file; VALUE is TOML, a bare word is a string: --set operator.kernel=csr "
    "--set 'mesh.cells=[8, 8, 8]' (may be repeated)";

CLI::Option* add_file(CLI::App& command, CommandOptions& options, const std::string& name,
                      const std::string& what) {
  CLI::Option* const file = command.add_option(name, options.file, what);
  file->required()->option_text("FILE");
  command.add_option("--set", options.assignments, kSetHelp)
      ->allow_extra_args(false)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
      ->option_text("KEY=VALUE");
  return file;
}

void add_quiet(CLI::App& command, CommandOptions& options) {
  command.add_flag("-q,--quiet", options.quiet, "Print errors and warnings only");
}

void add_threads(CLI::App& command, CommandOptions& options) {
  command
      .add_option(
          "-t,--threads", options.threads,
          "Threads on the CPU, of each process, 0 = all cores that it has; as --set run.threads")
      ->option_text("N");
}

void add_launches(CLI::App& command, CommandOptions& options, const std::string& where) {
  command.add_flag("--launches", options.launches,
                   "On a GPU, also report each kernel that operator and preconditioner launch: "
                   "grid, blocks a multiprocessor, waves, share of the last one, what limits, time "
                   "with its lower and upper bound; " +
                       where);
}

void add_run(CLI::App& app, CommandOptions& options) {
  CLI::App* command = app.add_subcommand("run", "Solve a case and write its results");
  CLI::Option* const file = add_file(
      *command, options, "CASE",
      "Case file (TOML); with --restart it may be left out, the case is that of the checkpoint");
  // Whether it can be left out is known when all is parsed.
  file->required(false);
  command
      ->add_option("--restart", options.restart,
                   "Go on from the last checkpoint in the directory of a run in time; the case may "
                   "differ in the end, method, steps and intervals of [time], in [nonlinear], "
                   "[operator], [solver], [run] and [output]")
      ->option_text("DIR");
  command
      ->add_option("-o,--output", options.directory,
                   "Directory for the results; as --set output.directory")
      ->option_text("DIR");
  command->add_flag("--overwrite", options.overwrite,
                    "Replace results already in the directory; as --set output.overwrite=true");
  add_threads(*command, options);
  add_launches(*command, options, "kept in launches.csv and result.json");
  add_quiet(*command, options);
  command->footer(
      "Examples:\n"
      "  tessera run case.toml\n"
      "  tessera run case.toml --set operator.kernel=local --output results/local --threads 4\n"
      "  mpirun -n 4 tessera run case.toml\n"
      "  tessera run --restart results/first --set time.end=2");
}

void add_check(CLI::App& app, CommandOptions& options) {
  CLI::App* command = app.add_subcommand(
      "check", "Validate a case: DoFs, memory by part and by strategy; solves nothing");
  add_file(*command, options, "CASE", "Case file (TOML)");
  command
      ->add_option(
          "-n,--ranks", options.ranks,
          "Processes that would share the case, as in mpirun -n N: their parts, the memory "
          "of each, and the parallel efficiency to expect")
      ->check(CLI::Range(1, kMaxRanks))
      ->option_text("N");
  command->footer(
      "Examples:\n"
      "  tessera check case.toml --set 'mesh.cells=[64, 64, 64]'\n"
      "  tessera check case.toml -n 8 --set 'run.ranks=[2, 2, 2]'");
}

void add_overwrite_files(CLI::App& command, CommandOptions& options) {
  command.add_flag(
      "--overwrite", options.overwrite_files,
      "Replace files in the place of outputs even if they are no such files of Tessera");
}

void add_report_option(CLI::App& command, CommandOptions& options) {
  command
      .add_option("--report", options.report,
                  "Write a page about the measurements, as tessera report does")
      ->option_text("FILE");
  add_overwrite_files(command, options);
}

void add_report(CLI::App& app, CommandOptions& options) {
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
  add_overwrite_files(*command, options);
  command->footer(
      "Plots are drawn by gnuplot (package gnuplot-nox).\n"
      "Examples:\n"
      "  tessera report results/poisson_3d -o report.html\n"
      "  tessera report laptop.csv server.csv -o two_machines.html");
}

void add_compare(CLI::App& app, CommandOptions& options) {
  CLI::App* command =
      app.add_subcommand("compare", "Measure the strategies that a study names, side by side");
  add_file(*command, options, "STUDY", "Study file (TOML); tessera defaults --study writes one");
  command
      ->add_option("--csv", options.csv,
                   "Write the measurements to this file; as --set study.output")
      ->option_text("FILE");
  add_launches(*command, options, "with --csv FILE kept in *_launches.csv");
  add_report_option(*command, options);
  add_quiet(*command, options);
  command->footer(
      "Example:\n  tessera compare study.toml --set 'study.degrees=[2, 4]' --csv measurements.csv");
}

void add_convergence(CLI::App& app, CommandOptions& options) {
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
      ->transform(kDofCount)
      ->option_text("N");
  command
      ->add_option("--time-limit", chosen.time_limit_s,
                   "Leave out meshes or steps that are foreseen to take longer (default 60)")
      ->check(kPositiveSeconds)
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
      "that are not lost in rounding are judged, between meshes whose largest cells are about "
      "halved:\n"
      "less than degree + 1 in L2 or degree in H1 by more than 0.3, and not rising any more, is "
      "too\n"
      "low, and the exit code is 2.\n\n"
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
      ->allow_extra_args(false)
      ->check(CLI::Range(1, kMaxThreads))
      ->option_text("N,...");
  command
      .add_option("--repetitions", chosen.repetitions,
                  "Repetitions of a row (default 100; with --quick 10)")
      ->check(CLI::Range(kMinStudyRepetitions, kMaxRepetitions))
      ->option_text("N");
  command
      .add_option("--time-limit", chosen.time_limit_s,
                  "Seconds after which a row is repeated no more, once it was repeated 5 times "
                  "(default 2; with --quick 0.25)")
      ->check(kPositiveSeconds)
      ->option_text("SECONDS");
  command.add_option("--seed", chosen.seed, "Of all random numbers (default 1)")
      ->check(kSeed)
      ->option_text("N");
  command.add_option("--only", chosen.only, "Measure these variants only")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->option_text("VARIANT,...");
  command.add_flag_callback(
      "--quick", [&chosen] { chosen.size = StudySize::quick; },
      "Smaller and fewer: within a minute on two cores");
}

void add_study(CLI::App& app, CommandOptions& options) {
  CLI::App* command = app.add_subcommand("study",
                                         "Measure how threads and GPU blocks share data and when "
                                         "kernels end, and judge what documents claim about it");
  StudyCommand& chosen = options.one_study;
  command
      ->add_option("NAME", chosen.study, "The study; without it, the table of studies is printed")
      ->option_text("NAME");
  command->add_option("--device", chosen.device, "Where (default: cpu, where the study runs there)")
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

void add_defaults(CLI::App& app, CommandOptions& options) {
  CLI::App* command = app.add_subcommand(
      "defaults", "Print a commented file with every key, its schema or its reference");
  const std::map<std::string, DefaultsFormat> formats = {{"toml", DefaultsFormat::toml},
                                                         {"schema", DefaultsFormat::schema},
                                                         {"markdown", DefaultsFormat::markdown}};
  CLI::Option* const format =
      command
          ->add_option_function<std::string>(
              "--format",
              [&options, formats](const std::string& name) { options.format = formats.at(name); },
              "toml: a file to start from (default) | schema: JSON Schema for editors | markdown: "
              "reference of the keys")
          ->check(CLI::IsMember({"toml", "schema", "markdown"}))
          ->option_text("toml|schema|markdown");
  CLI::Option* const schema = command->add_flag_callback(
      "--schema", [&options] { options.format = DefaultsFormat::schema; }, "As --format schema");
  CLI::Option* const reference = command->add_flag_callback(
      "--reference", [&options] { options.format = DefaultsFormat::markdown; },
      "As --format markdown");
  schema->excludes(format)->excludes(reference);
  reference->excludes(format);
  command->add_flag("--study", options.study, "Of study files rather than case files");
  command->footer(
      "Examples:\n"
      "  tessera defaults > case.toml\n"
      "  tessera defaults --study > study.toml\n"
      "  tessera defaults --format schema > case.schema.json");
}

void add_info(CLI::App& app, CommandOptions& options) {
  CLI::App* command = app.add_subcommand(
      "info", "Print what the machine has: cores, SIMD, GPUs, bandwidths, peaks");
  command->add_flag("--measure", options.measure,
                    "Measure bandwidths and peaks anew; else those of the last time are printed");
}

}  // namespace

void add_commands(CLI::App& app, CommandOptions& options) {
  add_run(app, options);
  add_check(app, options);
  add_compare(app, options);
  add_convergence(app, options);
  add_study(app, options);
  add_report(app, options);
  add_defaults(app, options);
  app.add_subcommand("list", "Print the strategies and what each can do, and the preconditioners");
  add_info(app, options);
}

}  // namespace tessera
