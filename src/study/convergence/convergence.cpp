// The loop over degrees and meshes, and its table.
#include "src/study/convergence/convergence.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iostream>

#include "postprocess/files/human_units.hpp"
#include "postprocess/files/progress.hpp"
#include "solvers/interruption.hpp"
#include "src/commands/interrupt.hpp"
#include "src/commands/report_errors.hpp"
#include "src/commands/run/solution_file.hpp"
#include "src/commands/standard_streams.hpp"
#include "src/study/convergence/meshes.hpp"
#include "src/study/convergence/output.hpp"
#include "src/study/convergence/row.hpp"

namespace tessera {
namespace {

constexpr char kRow[] = "  {:<13} {:>9} {:>8} {:>9} {:>8} {:>9} {:>8} {:>9} {:>8} {:>6} {:>9}\n";

const std::vector<std::string> kColumns = {
    "case", "dimension", "degree",  "cells",    "dofs", "h",          "l2",      "h1",
    "max",  "rate_l2",   "rate_h1", "rate_max", "note", "iterations", "setup_s", "solve_s"};

std::string cells_text(const std::vector<std::int64_t>& cells) {
  return fmt::format("{}", fmt::join(cells, "x"));
}

class ConvergenceStudy {
 public:
  ConvergenceStudy(const ConvergenceCommand& command, const LoadedCase& base)
      : command_(command),
        base_(base.parameters),
        coarsenings_(coarsenings(base_.mesh, command.levels)),
        out_(command, base_, kColumns, "width h of the cells") {
    choose_degrees();
  }

  ExitCode execute() {
    introduce();
    try {
      for (const int degree : degrees_) study_degree(degree);
    } catch (const Interrupted&) {
      out_.write();
      return ExitCode::interrupted;
    } catch (...) {
      complain_if_it_fails([&] { out_.write(); });
      throw;
    }
    out_.write();
    if (interrupted()) return ExitCode::interrupted;
    return conclude();
  }

 private:
  LoadedCase load(int degree, int level) const {
    std::vector<Override> overrides = command_.overrides;
    for (Override& made : level_overrides(base_, degree, level, coarsenings_)) {
      overrides.push_back(std::move(made));
    }
    return make_case_registry().load(command_.case_file, overrides);
  }

  // What the user asks for must be possible; a degree next to the case's may be left out.
  void choose_degrees() {
    const bool is_default = command_.degrees.empty();
    for (const int degree : is_default ? default_degrees(base_.space.degree) : command_.degrees) {
      try {
        load(degree, 0);
        degrees_.push_back(degree);
      } catch (const InputError& error) {
        if (!is_default || degree == base_.space.degree) throw;
        left_out_.push_back(
            fmt::format("degree {} is left out: {}", degree, error.diagnostics().front().message));
      }
    }
  }

  void introduce() const {
    out_.say("{}: convergence of {}\n", program_name(), out_.case_name());
    out_.say("  each mesh has twice the cells of the one before it along each axis\n");
    const double tolerance = convergence_tolerance(base_);
    if (tolerance < base_.solver.relative_tolerance) {
      out_.say(
          "  solved to a relative tolerance of {:g} rather than the case's {:g}, or as far as "
          "rounding lets: errors are those of the discretization\n",
          tolerance, base_.solver.relative_tolerance);
    }
    for (const std::string& text : left_out_) out_.say("  {}\n", text);
  }

  void study_degree(int degree) {
    out_.say("\ndegree {}: expected rates {} in L2, {} in H1\n", degree, degree + 1, degree);
    out_.say(kRow, "cells", "DoFs", "h", "L2 error", "rate", "H1 error", "rate", "max", "rate",
             "iter.", "time");
    std::vector<ConvergenceRow> rows;
    for (int level = 0; level < command_.levels; ++level) {
      stop_if_requested();
      ConvergenceRow row = solve(degree, level, rows);
      const bool is_last = !row.left_out.empty();
      rows.push_back(std::move(row));
      add_row(rows);
      if (is_last) break;
    }
    const std::vector<SolvedMesh> meshes = solved_meshes(rows);
    const auto rates = rates_of(meshes, rates_in_space(degree));
    add_to_plot(degree, meshes, rates);
    const Judgment judgment = judge(rates, rates_in_space(degree));
    out_.say("  {}\n", judgment.text);
    if (judgment.verdict == RateVerdict::too_low) too_low_.push_back(degree);
  }

  ConvergenceRow solve(int degree, int level, const std::vector<ConvergenceRow>& before) {
    ConvergenceRow row{.degree = degree};
    try {
      const LoadedCase loaded = load(degree, level);
      row = unsolved_row(loaded.parameters);
      row.left_out = why_left_out(row, before);
      if (!row.left_out.empty()) return row;
      Progress progress(std::cerr, shows_progress() ? ProgressMode::live : ProgressMode::silent,
                        {.label = fmt::format("degree {}, {} cells", degree, cells_text(row.cells)),
                         .target = loaded.parameters.solver.relative_tolerance,
                         .max_iterations = loaded.parameters.solver.max_iterations});
      return solved_row(loaded, [&](int number, double residual) {
        progress.update(number, residual);
        return stop_requested() ? Continue::no : Continue::yes;
      });
    } catch (...) {
      row.left_out = why_left_out_by_exception(level);
    }
    return row;
  }

  bool shows_progress() const {
    return command_.verbosity == Verbosity::normal && progress_mode(stderr) == ProgressMode::live;
  }

  // Foreseen from the meshes before.
  std::string why_left_out(const ConvergenceRow& row,
                           const std::vector<ConvergenceRow>& before) const {
    if (command_.max_dofs > 0 && row.dofs > command_.max_dofs) {
      return fmt::format("more than --max-dofs {}", command_.max_dofs);
    }
    // Small meshes take no time that is worth foreseeing.
    constexpr Index kSmall = 100'000;
    if (before.empty() || row.dofs < kSmall) return "";
    const ConvergenceRow& last = before.back();
    double growth = static_cast<double>(row.dofs) / static_cast<double>(last.dofs);
    if (before.size() > 1) {
      const double iterations = before[before.size() - 2].report.iterations;
      growth *= std::max(1.0, last.report.iterations / std::max(1.0, iterations));
    }
    const double foreseen = growth * last.all_seconds;
    if (foreseen <= command_.time_limit_s) return "";
    return fmt::format("would take about {}, and --time-limit is {}", human_seconds(foreseen),
                       human_seconds(command_.time_limit_s));
  }

  static std::vector<SolvedMesh> solved_meshes(const std::vector<ConvergenceRow>& rows) {
    std::vector<SolvedMesh> meshes;
    for (const ConvergenceRow& row : rows) {
      if (row.left_out.empty() && row.is_solved) meshes.push_back(row.mesh);
    }
    return meshes;
  }

  // The last row, on the screen and in the file.
  void add_row(const std::vector<ConvergenceRow>& rows) {
    const ConvergenceRow& row = rows.back();
    std::vector<std::string> line = {out_.case_name(), fmt::format("{}", base_.mesh.dimension),
                                     fmt::format("{}", row.degree), cells_text(row.cells),
                                     row.dofs > 0 ? fmt::format("{}", row.dofs) : ""};
    const std::string dofs = human_count(static_cast<double>(row.dofs));
    if (!row.left_out.empty()) {
      out_.say("  {:<13} {:>9}  left out: {}\n", cells_text(row.cells), dofs, row.left_out);
      line.resize(line.size() + 7);
      line.push_back("left out: " + row.left_out);
      line.resize(line.size() + 3);
      out_.add_row(line);
      return;
    }
    ++measured_;
    if (!row.is_solved) ++failures_;
    std::array<Rate, kErrorNorms> rates{};
    if (row.is_solved) rates = rates_of(solved_meshes(rows), rates_in_space(row.degree)).back();
    const std::string iterations =
        fmt::format("{}{}", row.is_solved ? "" : "NO: ", row.report.iterations);
    const auto error_text = [&](int norm) { return fmt::format("{:.2e}", row.mesh.errors[norm]); };
    out_.say(kRow, cells_text(row.cells), dofs, fmt::format("{:.3g}", row.mesh.h), error_text(0),
             rate_text(rates[0], "rounding"), error_text(1), rate_text(rates[1], "rounding"),
             error_text(2), rate_text(rates[2], "rounding"), iterations,
             human_seconds(row.setup_seconds + row.solve_seconds));
    line.push_back(fmt::format("{:.6g}", row.mesh.h));
    for (const double error : row.mesh.errors) line.push_back(fmt::format("{:.6g}", error));
    for (const Rate& rate : rates) {
      line.push_back(rate.value && !rate.is_rounding ? fmt::format("{:.4g}", *rate.value) : "");
    }
    line.push_back(note_text(row, rates));
    line.push_back(fmt::format("{}", row.report.iterations));
    line.push_back(fmt::format("{:.6g}", row.setup_seconds));
    line.push_back(fmt::format("{:.6g}", row.solve_seconds));
    out_.add_row(line);
  }

  static std::string note_text(const ConvergenceRow& row,
                               const std::array<Rate, kErrorNorms>& rates) {
    if (!row.is_solved) {
      return fmt::format("not solved: {}, relative residual {:.2g}", status_name(row.report.status),
                         row.report.true_relative_residual);
    }
    std::string note;
    for (int norm = 0; norm < kErrorNorms; ++norm) {
      if (!rates[norm].is_rounding) continue;
      note += (note.empty() ? "rounding in " : " ") + kColumns[static_cast<std::size_t>(norm) + 6];
    }
    return note;
  }

  // The errors in L2 of a degree.
  void add_to_plot(int degree, const std::vector<SolvedMesh>& meshes,
                   const std::vector<std::array<Rate, kErrorNorms>>& rates) {
    std::string name = fmt::format("degree {}", degree);
    std::vector<report::PlotPoint> points;
    std::optional<double> last;
    for (std::size_t i = 0; i < meshes.size(); ++i) {
      points.push_back({meshes[i].h, meshes[i].errors[0]});
      if (rates[i][0].value && !rates[i][0].is_rounding) last = rates[i][0].value;
    }
    if (last) name += fmt::format(", rate {:.2f}", *last);
    out_.add_series(std::move(name), std::move(points));
  }

  ExitCode conclude() const {
    if (measured_ == 0) return nothing_measured();
    if (!too_low_.empty()) {
      print_err("tessera: the observed rate is not the expected one for degree {}\n",
                fmt::join(too_low_, ", "));
    }
    if (failures_ > 0) {
      print_err("tessera: {} solve{} did not converge\n", failures_, failures_ == 1 ? "" : "s");
    }
    return too_low_.empty() && failures_ == 0 ? ExitCode::success : ExitCode::not_converged;
  }

  const ConvergenceCommand& command_;
  const CaseParameters& base_;
  int coarsenings_;
  std::vector<int> degrees_;
  std::vector<std::string> left_out_;
  std::vector<int> too_low_;
  int measured_ = 0;
  int failures_ = 0;
  ConvergenceOutput out_;
};

}  // namespace

ExitCode study_convergence(const ConvergenceCommand& command, const LoadedCase& base) {
  return ConvergenceStudy(command, base).execute();
}

}  // namespace tessera
