// The loop over degrees and steps, and its table.
#include "src/study/convergence/time_convergence.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iostream>

#include "postprocess/files/human_units.hpp"
#include "postprocess/files/time_progress.hpp"
#include "solvers/interruption.hpp"
#include "src/case/time/problem_in_time.hpp"
#include "src/commands/interrupt.hpp"
#include "src/commands/report_errors.hpp"
#include "src/commands/run/solution_file.hpp"
#include "src/study/convergence/meshes.hpp"
#include "src/study/convergence/output.hpp"
#include "src/study/convergence/row.hpp"
#include "src/study/convergence/time_row.hpp"

namespace tessera {
namespace {

constexpr char kRow[] = "  {:<10} {:>8} {:>9} {:>8} {:>9} {:>8} {:>9} {:>8} {:>8} {:>9}\n";

const std::vector<std::string> kColumns = {
    "case",        "dimension", "degree",  "cells",           "dofs",
    "method",      "order",     "step",    "tolerance",       "steps",
    "l2",          "h1",        "max",     "largest_l2",      "largest_h1",
    "largest_max", "rate_l2",   "rate_h1", "rate_largest_l2", "note",
    "iterations",  "setup_s",   "solve_s"};

constexpr std::array<const char*, kErrorNorms> kNames = {"l2", "h1", "largest_l2"};

/// The order with which the errors of a method fall. Where values on Dirichlet faces depend on
/// time, stages of Runge-Kutta methods are of a lower order than their steps, and so is what is
/// left of these.
int expected_order(const CaseParameters& parameters) {
  constexpr int kOfStages = 2;
  const TimeParameters& time = *parameters.time;
  const bool has_stages =
      time.method == TimeMethod::sdirk || time.method == TimeMethod::explicit_rk;
  return has_stages && ProblemInTime(parameters).dirichlet_depends_on_time()
             ? std::min(time.order, kOfStages)
             : time.order;
}

class TimeConvergenceStudy {
 public:
  TimeConvergenceStudy(const ConvergenceCommand& command, const LoadedCase& base)
      : command_(command),
        base_(base.parameters),
        expected_(rates_in_time(expected_order(base_))),
        degrees_(command.degrees.empty() ? std::vector{base_.space.degree} : command.degrees),
        out_(command, base_, kColumns, "length of the steps") {
    for (const int degree : degrees_) load(degree, 0);
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
    if (failures_ > 0) {
      print_err("tessera: {} integration{} did not reach the end\n", failures_,
                failures_ == 1 ? "" : "s");
    } else if (measured_ == 0) {
      return nothing_measured();
    }
    if (!too_low_.empty()) {
      print_err("tessera: the observed rate is not the expected one for degree {}\n",
                fmt::join(too_low_, ", "));
    }
    return too_low_.empty() && failures_ == 0 ? ExitCode::success : ExitCode::not_converged;
  }

 private:
  bool has_fixed_steps() const { return base_.time->step.has_value(); }

  LoadedCase load(int degree, int level) const {
    const TimeParameters& time = *base_.time;
    const double tenths = std::pow(10.0, -level);
    const std::string length =
        has_fixed_steps() ? fmt::format("time.step={:.17g}", std::ldexp(*time.step, -level))
                          : fmt::format("time.tolerance={:.17g}", *time.tolerance * tenths);
    std::vector<Override> overrides = command_.overrides;
    const std::string shown = fmt::format("tessera convergence: degree {}, {}", degree, length);
    overrides.push_back({length, shown});
    if (!has_fixed_steps()) {
      overrides.push_back(
          {fmt::format("time.absolute_tolerance={:.17g}", *time.absolute_tolerance * tenths),
           shown});
    }
    for (Override& made : degree_overrides(base_, degree, shown)) {
      overrides.push_back(std::move(made));
    }
    return make_case_registry().load(command_.case_file, overrides);
  }

  void introduce() const {
    out_.say("{}: convergence in time of {}\n", program_name(), out_.case_name());
    out_.say("  {} of order {}; {}\n", name_of(base_.time->method), base_.time->order,
             has_fixed_steps() ? "each row has half of the steps' length of the one before it"
                               : "each row has a tenth of the tolerance of the one before it");
    out_.say(
        "  errors are those at the end, t = {:g}, and the largest of the outputs after the "
        "start\n",
        base_.time->end);
    if (has_fixed_steps() && expected_order(base_) < base_.time->order) {
      out_.say("  values on Dirichlet faces depend on t: order {} is all that is sure\n",
               expected_order(base_));
    }
  }

  void study_degree(int degree) {
    out_.say("\ndegree {}{}\n", degree,
             has_fixed_steps() ? fmt::format(": expected rate {:g}", expected_.l2) : "");
    out_.say(kRow, has_fixed_steps() ? "step" : "tolerance", "steps", "L2 error", "rate",
             "H1 error", "rate", "largest", "rate", "iter.", "time");
    std::vector<TimeRow> rows;
    for (int level = 0; level < command_.levels; ++level) {
      stop_if_requested();
      rows.push_back(solve(degree, level, rows));
      add_row(degree, level, rows);
      if (!rows.back().left_out.empty()) {
        const TimeRow::Steps steps = rows.back().what_steps_do;
        rows.pop_back();
        if (steps == TimeRow::Steps::fail) ++failures_;
        if (steps == TimeRow::Steps::are_unstable) continue;
        break;
      }
      // Only the last one is compared with.
      if (rows.size() > 1) rows[rows.size() - 2].u = {};
    }
    const auto rates = rates_of(meshes_of(rows), expected_);
    add_to_plot(degree, rows, rates);
    if (!has_fixed_steps()) {
      out_.say(
          "  steps that adapt have no rate that is expected: the error follows the "
          "tolerance\n");
      return;
    }
    const Judgment judgment = judge(rates, expected_);
    out_.say("  {}\n", judgment.text);
    if (judgment.verdict == RateVerdict::too_low) too_low_.push_back(degree);
  }

  TimeRow solve(int degree, int level, const std::vector<TimeRow>& before) {
    TimeRow row;
    try {
      const LoadedCase loaded = load(degree, level);
      row.step = loaded.parameters.time->step;
      if (!row.step) row.tolerance = loaded.parameters.time->tolerance;
      row.left_out = why_left_out(before);
      if (!row.left_out.empty()) return row;
      const bool is_live =
          command_.verbosity == Verbosity::normal && progress_mode(stderr) == ProgressMode::live;
      TimeProgress progress(std::cerr, is_live ? ProgressMode::live : ProgressMode::silent,
                            {.start = base_.time->start, .end = base_.time->end});
      Index steps = 0;
      TimeRow solved = solved_row(loaded, before.empty() ? nullptr : &before.back(),
                                  [&](double t) { progress.update(t, ++steps, 0); });
      progress.finish();
      return solved;
    } catch (...) {
      row.left_out = why_left_out_by_exception(level);
    }
    return row;
  }

  // Foreseen from the row before.
  std::string why_left_out(const std::vector<TimeRow>& before) const {
    if (before.empty()) return "";
    const double growth = has_fixed_steps() ? 2.0 : std::pow(10.0, 1.0 / base_.time->order);
    const double foreseen = growth * before.back().all_seconds;
    if (foreseen <= command_.time_limit_s) return "";
    return fmt::format("would take about {}, and --time-limit is {}", human_seconds(foreseen),
                       human_seconds(command_.time_limit_s));
  }

  static std::vector<SolvedMesh> meshes_of(const std::vector<TimeRow>& rows) {
    std::vector<SolvedMesh> meshes;
    meshes.reserve(rows.size());
    for (const TimeRow& row : rows) meshes.push_back(row.mesh);
    return meshes;
  }

  // The last row, on the screen and in the file.
  void add_row(int degree, int level, const std::vector<TimeRow>& rows) {
    const TimeRow& row = rows.back();
    const ConvergenceRow sizes = unsolved_row(load(degree, level).parameters);
    const auto number = [](double value) { return fmt::format("{:.6g}", value); };
    const auto length = [&](const std::optional<double>& value) {
      return value ? number(*value) : "";
    };
    const std::string first = row.step ? length(row.step) : length(row.tolerance);
    std::vector<std::string> line = {out_.case_name(),
                                     fmt::format("{}", base_.mesh.dimension),
                                     fmt::format("{}", degree),
                                     fmt::format("{}", fmt::join(sizes.cells, "x")),
                                     fmt::format("{}", sizes.dofs),
                                     std::string(name_of(base_.time->method)),
                                     fmt::format("{}", base_.time->order)};
    if (!row.left_out.empty()) {
      out_.say("  {:<10} left out: {}\n", first, row.left_out);
      line.insert(line.end(), {length(row.step), length(row.tolerance)});
      line.resize(kColumns.size() - 4);
      line.insert(line.end(), {"left out: " + row.left_out, "", "", ""});
      out_.add_row(line);
      return;
    }
    ++measured_;
    const auto rates = rates_of(meshes_of(rows), expected_).back();
    const auto shown = [&](int norm) {
      return rate_text(rates[norm], row.is_of_space[norm] ? "space" : "rounding");
    };
    const auto error = [&](double value) { return fmt::format("{:.2e}", value); };
    out_.say(kRow, first, row.steps, error(row.error.l2), shown(0), error(row.error.h1_seminorm),
             shown(1), error(row.largest.l2), shown(2), row.iterations,
             human_seconds(row.setup_seconds + row.solve_seconds));
    line.insert(line.end(),
                {number(row.mesh.h), length(row.tolerance), fmt::format("{}", row.steps),
                 number(row.error.l2), number(row.error.h1_seminorm), number(row.error.max),
                 number(row.largest.l2), number(row.largest.h1_seminorm), number(row.largest.max)});
    std::string note;
    for (int norm = 0; norm < kErrorNorms; ++norm) {
      const Rate& rate = rates[norm];
      line.push_back(rate.value && !rate.is_rounding ? fmt::format("{:.4g}", *rate.value) : "");
      if (!rate.is_rounding) continue;
      note += fmt::format("{}{} in {}", note.empty() ? "" : ", ", shown(norm), kNames[norm]);
    }
    line.insert(line.end(), {note, fmt::format("{}", row.iterations), number(row.setup_seconds),
                             number(row.solve_seconds)});
    out_.add_row(line);
  }

  // The errors in L2 at the end.
  void add_to_plot(int degree, const std::vector<TimeRow>& rows,
                   const std::vector<std::array<Rate, kErrorNorms>>& rates) {
    std::vector<report::PlotPoint> points;
    std::optional<double> last;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      points.push_back({rows[i].mesh.h, rows[i].error.l2});
      if (rates[i][0].value && !rates[i][0].is_rounding) last = rates[i][0].value;
    }
    out_.add_series(fmt::format("degree {}{}", degree,
                                last ? fmt::format(", rate {:.2f}", *last) : std::string()),
                    std::move(points));
  }

  const ConvergenceCommand& command_;
  const CaseParameters& base_;
  ExpectedRates expected_;
  std::vector<int> degrees_;
  std::vector<int> too_low_;
  int measured_ = 0;
  int failures_ = 0;
  ConvergenceOutput out_;
};

}  // namespace

ExitCode study_time_convergence(const ConvergenceCommand& command, const LoadedCase& base) {
  return TimeConvergenceStudy(command, base).execute();
}

}  // namespace tessera
