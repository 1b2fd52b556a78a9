// A SolutionSeries is what a run in time writes while it goes on.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "mesh/discretization.hpp"
#include "mesh/scalar_field.hpp"
#include "postprocess/checkpoint/checkpoint.hpp"
#include "postprocess/probes/probes.hpp"
#include "postprocess/series/growing_file.hpp"
#include "postprocess/series/step_table.hpp"
#include "solvers/memory/vector.hpp"
#include "src/commands/run/result_set.hpp"
#include "src/commands/run/run_notes.hpp"
#include "src/commands/time/picture_series.hpp"
#include "src/commands/time/restart.hpp"
#include "src/parameters/case_parameters.hpp"

namespace tessera {

/// What a run in time writes while it goes on, so that a run that is still going can be looked at,
/// and one that is ended keeps what it had: solution_0001.vtu, ... with solution.pvd that names
/// them and view.py that plays them, a picture of each, solution_0001.png, ..., and in the end
/// animation.png, a line of steps.csv for each step and one of probes.csv for each output. Each
/// file that is written as a whole gets its name when it is complete. An earlier run's results give
/// way to the first of them.
///
/// Nothing throws for what fails: the first failure of its kind becomes a note, and at the end
/// another says how many files are missing.
///
/// Of several ranks, which call each function together, each has a part of the solution:
/// solution_0001.pvtu names their pieces, and rank 0 writes the rest.
class SolutionSeries {
 public:
  /// Parameters, discretization (in any frame), files and notes are referred to.
  /// @param files of the ranks that have a part of the solution
  /// @param outputs how many are foreseen, which is how many digits their names get
  /// @param part this rank's part of the mesh, null where one rank has all of it
  SolutionSeries(const CaseParameters& parameters, const Discretization& discretization,
                 ResultSet& files, RunNotes& notes, Index outputs, const RankPart* part = nullptr);

  /// Goes on with the series of an earlier run: numbers go on, and the tables keep what is not
  /// later than the checkpoint. In another directory solution.pvd has the later solutions only.
  void resume(const Restart& restart);
  /// What there is so far.
  const WrittenSeries& written() const { return series_; }

  /// Writes the next numbered file, of the solution u at time t, and solution.pvd and view.py anew;
  /// nothing but its number where the case wants no solution.vtu.
  /// @param exact, coefficient functions of physical positions, at this time
  /// @param status as in VtuMetadata
  void add(double t, const HostVector<double>& u, const std::optional<ScalarField>& exact,
           const ScalarField& coefficient, const std::string& status = "");
  /// Draws what was added last, if the case wants pictures. @param status as in PictureText
  void add_picture(double t, const HostVector<double>& u, const std::string& status = "");
  void add_step(const StepRow& row);
  /// The exact values may be empty where the case has an exact solution that failed here.
  void add_probes(double t, const ProbeValues& values);
  /// Draws the animation, and says how the run ended in view.py, and in a note what is missing.
  void finish(const std::string& status);

 private:
  // A table that grows, once it has its first line; the file is rank 0's.
  struct Table {
    bool is_begun = false;
    std::optional<GrowingFile> file = std::nullopt;
  };

  bool is_root() const { return files_.ranks().rank() == 0; }
  void add_line(Table& table, const std::string& name, std::string_view what,
                const std::function<std::string()>& header, const std::string& line);
  void begin(Table& table, const std::string& name, const std::string& text);
  void resume_table(Table& table, const std::string& name, const std::filesystem::path& from,
                    const std::string& header, double t);
  void forget_missing_files();
  void write_collection();
  void write_view(const std::string& status);

  const CaseParameters& parameters_;
  const Discretization& discretization_;
  ResultSet& files_;
  RunNotes& notes_;
  Index foreseen_;
  WrittenSeries series_;
  Index missing_ = 0;
  PictureSeries pictures_;
  Table steps_;
  Table probes_;
};

}  // namespace tessera
