// The loop over a study's problems.
#include "src/study/study_run.hpp"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "mesh/box_text.hpp"
#include "postprocess/files/atomic_file.hpp"
#include "postprocess/files/text_table.hpp"
#include "postprocess/report/report.hpp"
#include "postprocess/report/studies/scaling.hpp"
#include "solvers/interruption.hpp"
#include "solvers/memory/device.hpp"
#include "solvers/ranks/failure_channel.hpp"
#include "src/commands/interrupt.hpp"
#include "src/commands/report_errors.hpp"
#include "src/commands/standard_streams.hpp"
#include "src/machine/machine.hpp"
#include "src/study/csv_comments.hpp"
#include "src/study/joined_rows.hpp"

namespace tessera {
namespace {

std::vector<std::string> with_rank_columns(std::vector<std::string> columns) {
  columns.insert(columns.end(), {"ranks", "rank_grid", "dofs_per_rank", "model_s"});
  return columns;
}

// What processes may use together: launchers give a single one less than several.
std::string machine_of_ranks() {
  Machine machine = describe_machine();
  machine.logical_cores = host_cpu_count();
  return machine_summary(machine);
}

std::string grid_text(const std::optional<BoxPartition>& partition, const char* times) {
  return partition ? box_text(partition->grid(), partition->dimension(), times) : "1";
}

}  // namespace

const std::vector<std::string>& launch_problem_columns() {
  static const std::vector<std::string> columns = {"dimension", "geometry",  "degree",
                                                   "dofs",      "precision", "measured"};
  return columns;
}

StudyRun::StudyRun(const StudyParameters& study, const CompareCommand& command,
                   std::vector<std::string> columns, const Communicator& ranks)
    : study_(study),
      command_(command),
      ranks_(ranks, study_processor(study)),
      problems_(study_problems(study)),
      comments_(
          csv_comments(study.title, command_line("compare", command.study_file, command.overrides),
                       study_processor(study), make_study_registry().to_toml(study),
                       study.append || ranks.size() > 1 ? machine_of_ranks()
                                                        : machine_summary(describe_machine()))),
      csv_(comments_ + csv_line(with_rank_columns(std::move(columns)))) {}

ExitCode StudyRun::execute() {
  read_earlier_rows();
  introduce();
  if (const std::string text = ranks_.text(); !text.empty()) say("{}\n", text);
  for (const std::string& note : ranks_.notes()) say("note: {}\n", note);
  if (study_.solvers.empty()) {
    for (const std::string& scatter : absent_scatters(study_)) {
      say("note: the {} has no scatter policy \"{}\": no rows\n", processor_text(study_), scatter);
    }
  }
  try {
    for (const StudyProblem& problem : problems_) {
      ranks_.stop_if_asked();
      measure(problem);
    }
  } catch (const Interrupted&) {
    if (rows_ > 0) write_rows();
    return ExitCode::interrupted;
  } catch (...) {
    // Others may not come.
    if (rows_ > 0 && ranks_.is_root()) complain_if_it_fails([&] { write_files(); });
    throw;
  }
  write_rows();
  if (interrupted()) return ExitCode::interrupted;
  if (measured_rows_ > 0) return conclude();
  if (ranks_.is_root()) {
    print_err("tessera: nothing was measured: all of {} was left out{}\n", command_.study_file,
              study_.output.empty() ? "" : fmt::format("; {} says why", study_.output));
  }
  return ExitCode::not_converged;
}

void StudyRun::add_measured_row(std::vector<std::string> cells, const StudyProblem& problem,
                                double model_seconds) {
  ++measured_rows_;
  add_row(std::move(cells), problem, model_seconds);
}

void StudyRun::add_row(std::vector<std::string> cells, const StudyProblem& problem,
                       double model_seconds) {
  cells.push_back(fmt::format("{}", ranks_.size()));
  cells.push_back(grid_text(ranks_.partition(study_, problem), "x"));
  cells.push_back(problem.dofs_per_rank > 0 ? fmt::format("{}", problem.dofs_per_rank) : "");
  cells.push_back(model_seconds > 0.0 ? fmt::format("{:.6g}", model_seconds) : "");
  csv_ += csv_line(cells);
  ++rows_;
}

void StudyRun::rethrow_unless_all_failed(const std::string& what) const {
  if (!failed_together(ranks_.all(), what)) throw;
}

std::string StudyRun::ranks_text(const StudyProblem& problem) const {
  if (ranks_.size() == 1) return "";
  return fmt::format(" on {} ranks ({})", ranks_.size(),
                     grid_text(ranks_.partition(study_, problem), " x "));
}

std::string StudyRun::processor_name() const {
  if constexpr (kHasCuda) {
    if (on_gpu()) return require_device().name;
  }
  return describe_machine().cpu_model;
}

Index StudyRun::available() const {
  return on_gpu() ? ranks_.available_on_gpu(study_.memory_limit)
                  : ranks_.available(study_.memory_limit);
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

void StudyRun::read_earlier_rows() {
  on_all_ranks(
      ranks_.all(),
      [&] {
        if (!study_.append || !ranks_.is_root()) return;
        std::error_code error;
        if (!std::filesystem::exists(study_.output, error)) return;
        earlier_ = report::file_content(study_.output);
        require_same_study(study_.output, earlier_, csv_);
      },
      &report_errors());
}

void StudyRun::write_rows() {
  on_all_ranks(
      ranks_.all(),
      [&] {
        if (ranks_.is_root()) write_files();
      },
      &report_errors());
}

void StudyRun::write_files() {
  if (!earlier_.empty()) {
    csv_ = joined_rows(study_.output, earlier_, csv_);
    earlier_.clear();
  }
  if (study_.append && rows_ > 0) {
    const report::CsvTable table(study_.output, csv_);
    say("{}", report::scaling_text(table));
  }
  if (!study_.output.empty()) {
    write_text_file(study_.output, csv_);
    say("\nmeasurements are in {}\n", study_.output);
    const std::string launches = csv_beside(study_.output, "launches");
    if (launches_csv_.empty()) {
      remove_table(launches, "compare");
    } else {
      write_text_file(launches, launches_csv_);
      say("launches are in {}\n", launches);
    }
  }
  if (command_.report.empty() || rows_ == 0) return;
  report::write_report({{command_.study_file, csv_}}, command_.report);
  say("\nthe report is in {}\n", command_.report);
}

}  // namespace tessera
