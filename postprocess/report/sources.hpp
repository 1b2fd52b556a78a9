// The sources of a report: what was read from directories and CSV files.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "postprocess/report/csv_table.hpp"

namespace tessera::report {

/// What a table holds, as its columns say.
enum class TableKind { operators, solvers, convergence, convergence_in_time, other };

struct TableSource {
  /// Where it comes from, in one or two words: what tells two machines apart.
  std::string label = {};
  std::string name = {};  ///< the file's
  TableKind kind = TableKind::other;
  CsvTable table = {};
};

/// The results of one run. What is not there is absent, and `gaps` has a line for what should be.
struct RunSource {
  std::string label = {};
  std::filesystem::path directory = {};
  nlohmann::ordered_json result = nullptr;  ///< null for a run that did not finish
  std::optional<CsvTable> residuals = {};
  std::optional<CsvTable> steps = {};  ///< of a run in time, in place of residuals
  std::optional<CsvTable> timings = {};
  std::optional<CsvTable> probes = {};
  std::string case_text = {};
  std::string picture = {};    ///< bytes of solution.png
  std::string animation = {};  ///< bytes of animation.png
  std::vector<std::string> gaps = {};

  bool is_in_time() const { return steps || (probes && probes->has("t")); }
};

struct Sources {
  std::vector<RunSource> runs = {};
  std::vector<TableSource> tables = {};
};

/// A directory of results, one that holds such directories or CSV files, or a CSV file; or a CSV
/// file's text, which then is not read.
struct ReportInput {
  std::filesystem::path path = {};
  std::optional<std::string> text = {};
};

/// @throws BadInput at the first input that no report can be made of: a path that is neither file
///         nor directory, a directory without results, a file that is no CSV file of Tessera, a
///         result.json that is not JSON
Sources read_sources(const std::vector<ReportInput>& inputs);

/// A whole file. @throws BadInput
std::string file_content(const std::filesystem::path& path);

}  // namespace tessera::report
