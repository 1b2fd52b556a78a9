// The loop over a study's problems.
#include "src/study/study_run.hpp"

#include <algorithm>

#include "postprocess/files/atomic_file.hpp"
#include "postprocess/files/text_table.hpp"
#include "postprocess/report/report.hpp"
#include "solvers/interruption.hpp"
#include "solvers/memory/device.hpp"
#include "src/commands/interrupt.hpp"
#include "src/machine/machine.hpp"
#include "src/study/csv_comments.hpp"

namespace tessera {

const std::vector<std::string>& launch_problem_columns() {
  static const std::vector<std::string> columns = {"dimension", "geometry",  "degree",
                                                   "dofs",      "precision", "measured"};
  return columns;
}

StudyRun::StudyRun(const StudyParameters& study, const CompareCommand& command,
                   const std::vector<std::string>& columns)
    : study_(study),
      command_(command),
      problems_(study_problems(study)),
      comments_(csv_comments(study.title,
                             command_line("compare", command.study_file, command.overrides),
                             study_processor(study), make_study_registry().to_toml(study))),
      csv_(comments_ + csv_line(columns)) {}

ExitCode StudyRun::execute() {
  introduce();
  const auto keep_rows = [&] {
    if (rows_ > 0) write_rows();
  };
  try {
    for (const StudyProblem& problem : problems_) {
      stop_if_requested();
      measure(problem);
    }
  } catch (const Interrupted&) {
    keep_rows();
    return ExitCode::interrupted;
  } catch (...) {
    keep_rows();
    throw;
  }
  write_rows();
  return interrupted() ? ExitCode::interrupted : conclude();
}

void StudyRun::add_row(const std::vector<std::string>& cells) {
  csv_ += csv_line(cells);
  ++rows_;
}

std::string StudyRun::processor_name() const {
  if constexpr (kHasCuda) {
    if (on_gpu()) return require_device().name;
  }
  return describe_machine().cpu_model;
}

Index StudyRun::available() const {
  Index machine = available_memory_bytes();
  if constexpr (kHasCuda) {
    if (on_gpu()) machine = require_device().free_bytes;
  }
  return study_.memory_limit > 0 ? std::min<Index>(study_.memory_limit, machine) : machine;
}

void StudyRun::add_launches(const std::vector<std::string>& problem,
                            const std::vector<LaunchReport>& reports,
                            double copy_bytes_per_second) {
  say("{}\n", launch_table(reports, copy_bytes_per_second));
  if (launches_csv_.empty()) {
    std::vector<std::string> columns = launch_problem_columns();
    columns.insert(columns.end(), launch_columns().begin(), launch_columns().end());
    launches_csv_ = comments_ + csv_line(columns);
  }
  for (const LaunchReport& report : reports) {
    for (const std::vector<std::string>& row : launch_rows(report, copy_bytes_per_second)) {
      std::vector<std::string> cells = problem;
      cells.insert(cells.end(), row.begin(), row.end());
      launches_csv_ += csv_line(cells);
    }
  }
}

void StudyRun::write_rows() const {
  if (!study_.output.empty()) {
    write_text_file(study_.output, csv_);
    say("\nmeasurements are in {}\n", study_.output);
    if (!launches_csv_.empty()) {
      const std::string path = csv_beside(study_.output, "launches");
      write_text_file(path, launches_csv_);
      say("launches are in {}\n", path);
    }
  }
  if (command_.report.empty() || rows_ == 0) return;
  report::write_report({{command_.study_file, csv_}}, command_.report);
  say("\nthe report is in {}\n", command_.report);
}

}  // namespace tessera
