// What measuring a study is, whatever is measured: problem after problem, a table that grows, and a
// CSV file and a report that hold what was measured even if the rest is lost.
#pragma once

#include <fmt/format.h>

#include <string>
#include <utility>
#include <vector>

#include "src/commands.hpp"
#include "src/commands/standard_streams.hpp"
#include "src/launches/launch_report.hpp"
#include "src/study/setup.hpp"
#include "src/study/study_ranks.hpp"

namespace tessera {

/// A study as it is measured, on several ranks by all together. Study, command and ranks must
/// outlive it.
class StudyRun {
 public:
  /// @param columns of the CSV file, before those of kRankColumns
  StudyRun(const StudyParameters& study, const CompareCommand& command,
           std::vector<std::string> columns, const Communicator& ranks);
  virtual ~StudyRun() = default;
  StudyRun(const StudyRun&) = delete;
  StudyRun& operator=(const StudyRun&) = delete;

  /// Measures all problems and writes study.output and the report, as far as they are asked for:
  /// the rows measured before an error or an interruption as well.
  /// @throws report::BadInput if study.output is there, is to be appended to and is no file of the
  ///         same study, machine and program
  ExitCode execute();

 protected:
  /// Says what will be measured.
  virtual void introduce() const = 0;
  virtual void measure(const StudyProblem& problem) = 0;
  /// What came of all measurements; says what went wrong.
  virtual ExitCode conclude() const = 0;

  template <class... Arguments>
  void say(fmt::format_string<Arguments...> format, Arguments&&... arguments) const {
    if (verbosity() == Verbosity::normal) print_out(format, std::forward<Arguments>(arguments)...);
  }
  /// Prints what was launched and keeps it for the CSV file of launches.
  /// @param problem the cells under launch_problem_columns()
  void add_launches(const std::vector<std::string>& problem,
                    const std::vector<LaunchReport>& reports, double copy_bytes_per_second);
  /// @param cells of the columns of this kind of study @param model_seconds as foreseen of one
  /// application on so many ranks; 0: not known
  void add_measured_row(std::vector<std::string> cells, const StudyProblem& problem,
                        double model_seconds = 0.0);
  /// The same of what was left out.
  void add_row(std::vector<std::string> cells, const StudyProblem& problem,
               double model_seconds = 0.0);
  /// In the handler of an exception after which the study goes on: throws it again where it is not
  /// one of all ranks, of which the others may be in the midst of what failed.
  void rethrow_unless_all_failed(const std::string& what) const;
  /// " on 4 ranks (1 x 1 x 4)"; empty for one process.
  std::string ranks_text(const StudyProblem& problem) const;

  const StudyParameters& study() const { return study_; }
  const StudyRanks& ranks() const { return ranks_; }
  Verbosity verbosity() const { return ranks_.is_root() ? command_.verbosity : Verbosity::quiet; }
  LaunchReports launches() const { return command_.launches; }
  const std::vector<StudyProblem>& problems() const { return problems_; }
  bool on_gpu() const { return study_processor(study_) == Processor::gpu; }
  std::string processor_name() const;
  /// Bytes that each process may take for a problem now: what is free in the memory of the study's
  /// processor, or the study's limit if that is less.
  Index available() const;

 private:
  // Reads what study.output has already.
  void read_earlier_rows();
  void write_rows();
  // On rank 0, which alone has files.
  void write_files();

  const StudyParameters& study_;
  const CompareCommand& command_;
  StudyRanks ranks_;
  std::vector<StudyProblem> problems_;
  std::string comments_;
  std::string csv_;
  std::string earlier_;
  std::size_t rows_ = 0;
  std::size_t measured_rows_ = 0;
  std::string launches_csv_;
};

/// What a row of the CSV file of launches is of.
const std::vector<std::string>& launch_problem_columns();

/// Measures the strategies of the study's operators side by side.
ExitCode compare_operators(const StudyParameters& study, const CompareCommand& command,
                           const Communicator& ranks);

/// Measures the study's solvers side by side.
ExitCode compare_solvers(const StudyParameters& study, const CompareCommand& command,
                         const Communicator& ranks);

}  // namespace tessera
