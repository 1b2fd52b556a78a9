// The loop over a study's problems.
#include "src/study/study_run.hpp"

#include <algorithm>

#include "postprocess/files/atomic_file.hpp"
#include "postprocess/files/text_table.hpp"
#include "solvers/interruption.hpp"
#include "src/commands/interrupt.hpp"
#include "src/commands/solution_file.hpp"
#include "src/study/machine.hpp"

namespace tessera {

StudyRun::StudyRun(const StudyParameters& study, Verbosity verbosity,
                   const std::vector<std::string>& columns)
    : study_(study),
      verbosity_(verbosity),
      problems_(study_problems(study)),
      csv_(csv_line(columns)) {}

ExitCode StudyRun::execute() {
  introduce();
  const auto keep_rows = [&] {
    // Beside the header.
    if (std::count(csv_.begin(), csv_.end(), '\n') > 1) write_rows();
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

void StudyRun::add_row(const std::vector<std::string>& cells) { csv_ += csv_line(cells); }

Index StudyRun::available() const { return study_available_bytes(study_); }

void StudyRun::write_rows() const {
  if (study_.output.empty()) return;
  write_text_file(study_.output, csv_);
  say("\nmeasurements are in {}\n", study_.output);
}

}  // namespace tessera
