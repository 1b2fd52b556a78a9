// This file writes what a study of convergence found.
#include "src/study/convergence/output.hpp"

#include <filesystem>

#include "postprocess/files/atomic_file.hpp"
#include "postprocess/files/text_table.hpp"
#include "postprocess/report/plots/gnuplot.hpp"
#include "postprocess/report/report.hpp"
#include "src/case/choices.hpp"
#include "src/case/shape.hpp"
#include "src/study/csv_comments.hpp"

namespace tessera {
namespace {

std::string command_text(const ConvergenceCommand& command) {
  std::string text = command_line("convergence", command.case_file, command.overrides);
  const ConvergenceCommand otherwise;
  if (!command.degrees.empty()) {
    text += fmt::format(" --degrees {}", fmt::join(command.degrees, ","));
  }
  if (command.levels != otherwise.levels) text += fmt::format(" --levels {}", command.levels);
  if (command.max_dofs > 0) text += fmt::format(" --max-dofs {}", command.max_dofs);
  if (command.time_limit_s != otherwise.time_limit_s) {
    text += fmt::format(" --time-limit {}", command.time_limit_s);
  }
  return text;
}

Processor processor_of(CaseParameters parameters) {
  resolve_device(parameters);
  return case_processor(parameters);
}

}  // namespace

ConvergenceOutput::ConvergenceOutput(const ConvergenceCommand& command, const CaseParameters& base,
                                     const std::vector<std::string>& columns,
                                     const std::string& x_label)
    : command_(command),
      base_(base),
      csv_(csv_comments(base.title, command_text(command), processor_of(base),
                        make_case_registry().to_toml(base)) +
           csv_line(columns)) {
  plot_.title = "Error in L2, " + case_name();
  plot_.x = {.label = x_label, .scale = report::Scale::logarithmic};
  plot_.y = {.label = "error in L2", .scale = report::Scale::logarithmic};
}

std::string ConvergenceOutput::case_name() const {
  return base_.title.empty() ? std::filesystem::path(command_.case_file).stem().string()
                             : base_.title;
}

void ConvergenceOutput::add_row(const std::vector<std::string>& cells) {
  has_rows_ = true;
  csv_ += csv_line(cells);
}

void ConvergenceOutput::add_series(std::string name, std::vector<report::PlotPoint> points) {
  if (points.empty()) return;
  plot_.series.push_back({.name = std::move(name),
                          .points = std::move(points),
                          .color = static_cast<int>(plot_.series.size())});
}

void ConvergenceOutput::write() const {
  if (!has_rows_) return;
  if (!command_.csv.empty()) {
    write_text_file(command_.csv, csv_);
    say("\nthe table is in {}\n", command_.csv);
  }
  if (!command_.plot.empty()) {
    const std::string svg = report::draw({plot_}, report::SvgUse::file).front();
    if (svg.empty()) {
      print_err("tessera: {} is not written: there is no error above 0 to draw\n", command_.plot);
    } else {
      write_text_file(command_.plot, svg);
      say("\nthe plot is in {}\n", command_.plot);
    }
  }
  if (!command_.report.empty()) {
    report::write_report({{command_.case_file, csv_}}, command_.report);
    say("\nthe report is in {}\n", command_.report);
  }
}

ExitCode nothing_measured() {
  print_err("tessera: nothing was measured: all rows were left out\n");
  return ExitCode::not_converged;
}

}  // namespace tessera
