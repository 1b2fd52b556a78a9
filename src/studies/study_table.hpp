// A StudyTable holds the rows that a study has measured.
#pragma once

#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "postprocess/timing/statistics.hpp"
#include "solvers/execution.hpp"

namespace tessera {

/// Why a row or a claim has no numbers here, in a few words: "2 cores".
class NotMeasured : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A metric of a row: not known, a number, or words.
using StudyCell = std::variant<std::monostate, double, std::string>;

/// A column of a study's own.
struct StudyColumn {
  std::string name;         ///< in the CSV file: lower case, '_' between words
  std::string header = {};  ///< on the screen; empty: the name
  /// The parts of the study whose rows have it on the screen; empty: all.
  std::vector<std::string> parts = {};
  /// Whether the screen has it, too.
  enum class Place { screen_and_file, file } place = Place::screen_and_file;
};

/// What the columns of a study are, beside those that all studies have.
struct StudyLayout {
  std::vector<StudyColumn> parameters = {};
  std::vector<StudyColumn> metrics = {};
  /// Unit of the times on the screen, such as "ns/update"; empty where nothing is timed.
  std::string time_unit = {};
};

/// Whether a result was right. A variant that is wrong by design must be seen to be.
enum class Correctness { right, wrong, wrong_by_design };

/// One variant at given parameters.
struct StudyRow {
  std::string variant;
  int threads = 1;
  /// Of a study of several parts, each with columns of its own.
  std::string part = {};
  std::vector<std::string> parameters = {};
  /// Of one repetition; count 0 where nothing is timed.
  Summary seconds = {};
  /// Factor from seconds of a repetition to the layout's time_unit.
  double shown_per_second = 1.0;
  std::vector<StudyCell> metrics = {};
  Correctness correctness = Correctness::right;
  /// What is wrong: "3.1 % of the additions lost".
  std::string wrong = {};
  /// Why there are no numbers; the rest but variant, threads, parameters is meaningless unless this
  /// is empty.
  std::string not_measured = {};
  /// Where it was measured, if not where the study runs: a GPU's rows stand beside a CPU's.
  std::optional<Processor> processor = {};
};

/// The rows of a study so far, in the order in which they were measured.
class StudyTable {
 public:
  explicit StudyTable(StudyLayout layout = {}) : layout_(std::move(layout)) {}

  const StudyLayout& layout() const { return layout_; }
  const std::vector<StudyRow>& rows() const { return rows_; }
  /// The row must have as many parameters and metrics as the layout, or no metrics at all where it
  /// was not measured. @throws std::invalid_argument
  void add(StudyRow row);

  /// The row of a variant. @throws NotMeasured if there is none or if it was not measured
  const StudyRow& at(const std::string& variant, int threads,
                     const std::vector<std::string>& parameters = {}) const;
  /// A metric of a row by the name of its column. @throws NotMeasured if it is no number,
  /// std::invalid_argument if there is no such column
  double metric(const StudyRow& row, const std::string& name) const;
  /// Time of the variant on one thread over that of a row with the same parameters; 1 for that row
  /// itself, nothing if there is no such row.
  StudyCell times_faster(const std::string& than, const StudyRow& row) const;
  /// The largest number of threads with which any row was measured. @throws NotMeasured
  int max_threads() const;

 private:
  StudyLayout layout_;
  std::vector<StudyRow> rows_;
};

/// Cells for all columns, of which those that are named have a value.
/// @throws std::invalid_argument for a column that there is not
std::vector<StudyCell> cells_in(const std::vector<StudyColumn>& columns,
                                const std::vector<std::pair<std::string, StudyCell>>& values);
/// The same of parameters, empty where there is no value.
std::vector<std::string> texts_in(const std::vector<StudyColumn>& columns,
                                  const std::vector<std::pair<std::string, std::string>>& values);

/// "3.1 % of the additions lost".
std::string lost_text(double share);

/// As CSV files hold it: 6 digits of a number, nothing for what is not known.
std::string csv_text(const StudyCell& cell);

/// Of the CSV file: study, variant, device, machine, threads, the parameters, runs, median_s, q1_s,
/// q3_s, min_s, the metrics, wrong.
std::vector<std::string> csv_header(const StudyLayout& layout);

/// The cells of a row under that header; `wrong` is "no", what is wrong, or why it was not
/// measured.
std::vector<std::string> csv_cells(const StudyRow& row, const StudyLayout& layout,
                                   const std::string& study, const std::string& device,
                                   const std::string& machine);

}  // namespace tessera
