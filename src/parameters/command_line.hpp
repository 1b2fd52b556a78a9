// These structs are the commands as the user typed them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "postprocess/files/output_directory.hpp"
#include "src/parameters/toml/reader.hpp"

namespace tessera {

enum class Verbosity { normal, quiet };

/// Of `--launches`: whether the launches of GPU kernels are reported.
enum class LaunchReports { no, yes };

/// `tessera run`: `--output`, `--overwrite` and `--threads` are among the overrides, after `--set`.
struct RunCommand {
  /// Empty only with `restart`: the case of its checkpoint.
  std::string case_file;
  std::vector<Override> overrides;
  Verbosity verbosity = Verbosity::normal;
  /// The directory of `--restart`; empty for none.
  std::string restart = {};
  LaunchReports launches = LaunchReports::no;
};

/// `tessera check`
struct CheckCommand {
  std::string case_file;
  std::vector<Override> overrides;
  /// The processes that would share the case.
  int ranks = 1;
};

/// `tessera compare`: `--csv` is among the overrides, after `--set`.
struct CompareCommand {
  std::string study_file;
  std::vector<Override> overrides;
  Verbosity verbosity = Verbosity::normal;
  /// Of `--report`; empty for none.
  std::string report = {};
  Overwrite overwrite = Overwrite::no;
  LaunchReports launches = LaunchReports::no;
};

/// `tessera report`
struct ReportCommand {
  std::vector<std::string> inputs;
  /// The page and the directory of SVG files; empty for none.
  std::string output;
  std::string plots;
  Overwrite overwrite = Overwrite::no;
};

/// `tessera convergence`: `--threads` is among the overrides, after `--set`.
struct ConvergenceCommand {
  std::string case_file;
  std::vector<Override> overrides;
  Verbosity verbosity = Verbosity::normal;
  /// Empty: the case's degree and its neighbors.
  std::vector<int> degrees = {};
  /// Meshes per degree.
  int levels = 4;
  /// The most DoFs of a mesh; 0: as many as fit.
  std::int64_t max_dofs = 0;
  /// Seconds that a mesh may be foreseen to take.
  double time_limit_s = 60.0;
  /// Of `--csv`, `--plot` and `--report`; empty for none.
  std::string csv = {};
  std::string plot = {};
  std::string report = {};
  Overwrite overwrite = Overwrite::no;
};

/// Of `--quick`: a study that ends within a minute on two cores.
enum class StudySize { full, quick };

/// A row of a study is repeated so often whatever time it takes.
constexpr int kMinStudyRepetitions = 5;

/// `tessera study`: the studies themselves are a table of the program (src/studies).
struct StudyCommand {
  /// Empty: the table of studies is asked for.
  std::string study = {};
  /// "cpu" or "cuda"; empty: the CPU, unless the study runs on GPUs alone.
  std::string device = {};
  /// Empty: those of 1, 2, 4, 8, 16 that there are cores for.
  std::vector<int> threads = {};
  std::optional<int> repetitions = {};
  std::optional<double> time_limit_s = {};
  std::uint64_t seed = 1;
  std::vector<std::string> only = {};
  StudySize size = StudySize::full;
  /// As typed, what one study alone has.
  std::vector<std::string> own = {};
  /// Of `--csv` and `--report`; empty for none.
  std::string csv = {};
  std::string report = {};
  Overwrite overwrite = Overwrite::no;
  Verbosity verbosity = Verbosity::normal;
  /// All after "study", as typed.
  std::vector<std::string> arguments = {};
};

/// Whether the machine's rates are measured although they are remembered from an earlier time.
enum class Measure { once, anew };

enum class DefaultsFormat { toml, schema, markdown };

/// The two kinds of file that Tessera reads.
enum class FileKind { case_file, study_file };

/// `tessera defaults`
struct DefaultsCommand {
  FileKind kind = FileKind::case_file;
  DefaultsFormat format = DefaultsFormat::toml;
};

/// `tessera list`
struct ListCommand {};

/// `tessera info`
struct InfoCommand {
  Measure measure = Measure::once;
};

/// Nothing left to do but print and exit: help, the version, or a usage error.
struct FinishedCommand {
  int exit_code = 0;
  std::string standard_output = {};
  std::string standard_error = {};
};

using Command =
    std::variant<RunCommand, CheckCommand, CompareCommand, ConvergenceCommand, StudyCommand,
                 ReportCommand, DefaultsCommand, ListCommand, InfoCommand, FinishedCommand>;

/// What the command line asks for; prints nothing and does not throw for what the user typed.
/// @param version what `--version` prints.
Command parse_command_line(int argc, const char* const* argv, std::string_view version);

}  // namespace tessera
