// This file writes the numbered solutions, and the tables that grow.
#include "src/commands/time/solution_series.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <system_error>

#include "postprocess/picture/extrema.hpp"
#include "postprocess/ranks/output_on_all_ranks.hpp"
#include "postprocess/series/kept_lines.hpp"
#include "src/commands/run/probe_output.hpp"
#include "src/commands/run/solution_file.hpp"
#include "src/parameters/toml/reader.hpp"

namespace tessera {

SolutionSeries::SolutionSeries(const CaseParameters& parameters,
                               const Discretization& discretization, ResultSet& files,
                               RunNotes& notes, Index outputs, const RankPart* part)
    : parameters_(parameters),
      discretization_(discretization),
      files_(files),
      notes_(notes),
      foreseen_(outputs),
      pictures_(parameters, discretization, files, notes, part) {}

void SolutionSeries::add(double t, const HostVector<double>& u,
                         const std::optional<ScalarField>& exact, const ScalarField& coefficient,
                         const std::string& status) {
  ++series_.last_number;
  if (!parameters_.output.vtk) return;
  const std::string name =
      numbered_solution_name(series_.last_number, foreseen_, solution_extension(files_.ranks()));
  const bool is_written = add_solution_file(files_, name, parameters_, discretization_,
                                            {u, exact, coefficient, status, t}, notes_) &&
                          notes_.attempt(name, "is missing", [&] { files_.commit(); });
  if (!is_written) {
    ++missing_;
    return;
  }
  series_.files.push_back({t, name});
  const Extrema extrema = find_extrema(u.span());
  auto& [least, greatest] = series_.range;
  least = std::min(least, extrema.min.value);
  greatest = std::max(greatest, extrema.max.value);
  files_.ranks().min(std::span(&least, 1));
  files_.ranks().max(std::span(&greatest, 1));
  write_collection();
}

void SolutionSeries::add_picture(double t, const HostVector<double>& u, const std::string& status) {
  if (!parameters_.output.picture) return;
  pictures_.add(numbered_solution_name(series_.last_number, foreseen_, ".png"), t, u, status);
}

void SolutionSeries::write_collection() {
  notes_.attempt("solution.pvd", "lacks files", [&] {
    files_.add("solution.pvd", collection_text(series_.files));
    files_.commit();
  });
  write_view("");
}

void SolutionSeries::resume(const Restart& restart) {
  const Checkpoint& checkpoint = restart.found.checkpoint;
  series_ = checkpoint.series;
  if (restart.place == RestartPlace::other_directory) series_.files.clear();
  forget_missing_files();
  resume_table(steps_, "steps.csv", restart.directory, step_header(), restart.t());
  if (checkpoint.last_output && !parameters_.output.probes.points.empty()) {
    resume_table(probes_, "probes.csv", restart.directory, probe_series_header(parameters_),
                 *checkpoint.last_output);
  }
  if (!series_.files.empty()) write_collection();
}

// What rank 0 does not see is gone for all.
void SolutionSeries::forget_missing_files() {
  std::string marks;
  for (const TimedFile& file : series_.files) {
    std::error_code ignored;
    const bool is_there = std::filesystem::exists(files_.directory() / file.name, ignored);
    marks += is_there ? '+' : '-';
  }
  marks = files_.ranks().broadcast(marks);
  std::size_t next = 0;
  std::erase_if(series_.files, [&](const TimedFile&) { return marks[next++] == '-'; });
}

void SolutionSeries::resume_table(Table& table, const std::string& name,
                                  const std::filesystem::path& from, const std::string& header,
                                  double t) {
  std::error_code ignored;
  const bool is_there = is_root() && std::filesystem::exists(from / name, ignored);
  if (!files_.ranks().any(is_there)) return;
  notes_.attempt(name, "begins at the checkpoint", [&] {
    const auto kept = output_on_all_ranks(files_.ranks(), [&]() -> std::optional<std::string> {
      if (!is_root()) return std::nullopt;
      return lines_until(read_text_file((from / name).string()), header, t);
    });
    if (!files_.ranks().any(kept.has_value())) {
      notes_.complain(
          fmt::format("{} begins at the checkpoint: earlier lines have other columns", name));
      return;
    }
    begin(table, name, kept.value_or(""));
  });
}

// Only the text of rank 0 is written.
void SolutionSeries::begin(Table& table, const std::string& name, const std::string& text) {
  files_.add(name, text);
  files_.commit();
  table.is_begun = true;
}

void SolutionSeries::add_step(const StepRow& row) {
  add_line(steps_, "steps.csv", "lacks steps", step_header, step_line(row));
}

void SolutionSeries::add_probes(double t, const ProbeValues& values) {
  add_line(
      probes_, "probes.csv", "lacks times", [&] { return probe_series_header(parameters_); },
      probe_series_line(t, values, exact_columns(parameters_)));
}

void SolutionSeries::add_line(Table& table, const std::string& name, std::string_view what,
                              const std::function<std::string()>& header, const std::string& line) {
  notes_.attempt(name, what, [&] {
    if (!table.is_begun) begin(table, name, header());
    output_on_all_ranks(files_.ranks(), [&] {
      if (!is_root()) return;
      if (!table.file) table.file.emplace(files_.directory() / name);
      table.file->add(line);
    });
  });
}

void SolutionSeries::finish(const std::string& status) {
  pictures_.finish();
  if (missing_ > 1) {
    notes_.complain(fmt::format("{} of {} solutions are missing", missing_, series_.last_number));
  }
  if (!series_.files.empty()) write_view(status);
}

void SolutionSeries::write_view(const std::string& status) {
  notes_.attempt("view.py", "is missing or not of all times", [&] {
    files_.add("view.py", view_script_text(parameters_, status, "solution.pvd", series_.range));
    files_.commit();
  });
}

}  // namespace tessera
