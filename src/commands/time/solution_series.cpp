// This file writes the numbered solutions, and the tables that grow.
#include "src/commands/time/solution_series.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "postprocess/picture/extrema.hpp"
#include "postprocess/series/probe_series.hpp"
#include "src/commands/solution_file.hpp"

namespace tessera {

SolutionSeries::SolutionSeries(const CaseParameters& parameters,
                               const Discretization& discretization, ResultSet& files,
                               RunNotes& notes, Index outputs)
    : parameters_(parameters),
      discretization_(discretization),
      files_(files),
      notes_(notes),
      foreseen_(outputs) {}

void SolutionSeries::add(double t, const HostVector<double>& u,
                         const std::optional<ScalarField>& exact, const ScalarField& coefficient,
                         const std::string& status) {
  if (!parameters_.output.vtk) return;
  const std::string name = numbered_solution_name(++outputs_, foreseen_);
  if (!add_solution_file(files_, name, parameters_, discretization_,
                         {u, exact, coefficient, status, t}, notes_)) {
    return;
  }
  const bool is_named = notes_.attempt(name, "is missing", [&] { files_.commit(); });
  if (!is_named) return;
  written_.push_back({t, name});
  const Extrema extrema = find_extrema(u.span());
  range_ = {std::min(range_.first, extrema.min.value), std::max(range_.second, extrema.max.value)};
  notes_.attempt("solution.pvd", "lacks files", [&] {
    files_.add("solution.pvd", collection_text(written_));
    files_.commit();
  });
  write_view("");
}

void SolutionSeries::add_step(const StepRow& row) {
  add_line(steps_, "steps.csv", "lacks steps", step_header, step_line(row));
}

void SolutionSeries::add_probes(double t, const ProbeValues& values) {
  const ExactColumns exact = parameters_.problem.exact ? ExactColumns::yes : ExactColumns::no;
  const auto header = [&] {
    return probe_series_header(program_name(), parameters_.output.probes.points, exact);
  };
  add_line(probes_, "probes.csv", "lacks times", header, probe_series_line(t, values, exact));
}

void SolutionSeries::add_line(std::optional<GrowingFile>& file, const std::string& name,
                              std::string_view what, const std::function<std::string()>& header,
                              const std::string& line) {
  notes_.attempt(name, what, [&] {
    if (!file) {
      files_.add(name, header());
      files_.commit();
      file.emplace(files_.directory() / name);
    }
    file->add(line);
  });
}

void SolutionSeries::finish(const std::string& status) {
  if (missing() > 1) {
    notes_.complain(fmt::format("{} of {} solutions are missing", missing(), outputs_));
  }
  if (!written_.empty()) write_view(status);
}

void SolutionSeries::write_view(const std::string& status) {
  notes_.attempt("view.py", "is missing or not of all times", [&] {
    files_.add("view.py", view_script_text(parameters_, status, range_));
    files_.commit();
  });
}

}  // namespace tessera
