// These functions say how well processes share the work of a study.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "postprocess/report/csv_table.hpp"

namespace tessera::report {

/// What some number of ranks did of one measurement that others did with other numbers of them.
struct ScalingRow {
  int ranks = 1;
  std::string grid;
  double dofs = 0.0;
  double seconds = 0.0;
  /// Of a solve.
  std::optional<double> iterations;
  /// (DoFs per second) / (those of the fewest ranks).
  double speed_up = 1.0;
  /// speed_up x (fewest ranks) / ranks.
  double efficiency = 1.0;
  /// The same of the times that were foreseen.
  std::optional<double> foreseen_efficiency;
};

/// One measurement by several numbers of ranks, the fewest first.
struct Scaling {
  /// "3D uniform, degree 4, double, 1 thread, kronecker: 1000000 DoFs"
  std::string title;
  std::vector<ScalingRow> rows;
};

/// What a study measured with two numbers of ranks at least, in the order of its rows: of the same
/// DoFs (strong scaling), or of as many for each rank (weak scaling, where a rank's speed counts).
std::vector<Scaling> scalings(const CsvTable& table);

/// The header of a table of scalings, and the cells of a row.
std::vector<std::string> scaling_header();
std::vector<std::string> scaling_cells(const ScalingRow& row);

/// All of them as tables, with an empty line before each; says so where there are none yet.
std::string scaling_text(const CsvTable& table);

}  // namespace tessera::report
