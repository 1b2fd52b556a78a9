// A ConvergenceOutput is what `tessera convergence` leaves: lines on the screen, and files.
#pragma once

#include <fmt/format.h>

#include <string>
#include <utility>
#include <vector>

#include "postprocess/report/plots/plot.hpp"
#include "src/case/setup.hpp"
#include "src/commands/standard_streams.hpp"
#include "src/parameters/command_line.hpp"

namespace tessera {

/// What a study of convergence prints, and the files that its command names: CSV, plot and report.
class ConvergenceOutput {
 public:
  /// Both are referred to. @param columns of the CSV file @param x_label of the plot
  ConvergenceOutput(const ConvergenceCommand& command, const CaseParameters& base,
                    const std::vector<std::string>& columns, const std::string& x_label);

  /// Prints, unless the command is to be quiet.
  template <class... Arguments>
  void say(fmt::format_string<Arguments...> format, Arguments&&... arguments) const {
    if (command_.verbosity == Verbosity::normal) {
      print_out(format, std::forward<Arguments>(arguments)...);
    }
  }
  /// Its title, or its file's name.
  std::string case_name() const;
  /// Adds a line to the CSV file.
  void add_row(const std::vector<std::string>& cells);
  /// Adds a line to the plot. @param name with the rate, if there is one
  void add_series(std::string name, std::vector<report::PlotPoint> points);
  /// Writes the files, if there are rows; no plot, but a line on stderr, if there is nothing to
  /// draw. @throws OutputError, PlotError
  void write() const;

 private:
  const ConvergenceCommand& command_;
  const CaseParameters& base_;
  std::string csv_;
  report::Plot plot_;
  bool has_rows_ = false;
};

/// Says that all rows of a study were left out.
ExitCode nothing_measured();

}  // namespace tessera
