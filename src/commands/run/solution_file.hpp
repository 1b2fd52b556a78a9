// A SolutionFile is the content of solution.vtu, or of the pieces of solution.pvtu.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "mesh/discretization.hpp"
#include "mesh/lanes/host_array.hpp"
#include "mesh/scalar_field.hpp"
#include "postprocess/vtk/vtu_writer.hpp"
#include "solvers/memory/vector.hpp"
#include "solvers/ranks/communicator.hpp"
#include "src/commands/run/result_set.hpp"
#include "src/commands/run/run_notes.hpp"
#include "src/parameters/case_parameters.hpp"

namespace tessera {

/// The content of solution.vtu: at its points "solution" and, if it was added, "exact" and "error"
/// = solution - exact there; of cells, if it was added, "coefficient", at the image of the cell's
/// middle. Each part stands for itself, so that the others can be written if one cannot be made.
///
/// Of several ranks each has the content of its piece, and all call each function together.
class SolutionFile {
 public:
  /// All are referred to. @param discretization in any frame, of the rank's part
  SolutionFile(const CaseParameters& parameters, const Discretization& discretization,
               const HostVector<double>& solution, const Communicator& ranks = single_rank())
      : parameters_(parameters),
        discretization_(discretization),
        solution_(solution),
        ranks_(ranks) {}

  /// @throws what the field throws, if it is asked to stop Interrupted; then nothing is added
  void add_exact(const ScalarField& exact);
  /// NaN where the coefficient, which the operator has at other points, is not positive and finite.
  /// @return the first of its complaints, empty if there were none
  std::string add_coefficient(const ScalarField& coefficient);
  /// Adds a file with all that was added to the set, of the same ranks: one with pieces if there
  /// are several. @throws OutputError
  /// @param status, time as in VtuMetadata
  /// @return what it has in double precision although output.vtk_precision is single
  /// (vtu_writer.hpp)
  std::vector<std::string> add_to(ResultSet& files, const std::string& name,
                                  const std::string& status,
                                  std::optional<double> time = std::nullopt) const;

 private:
  /// At the cells' centers; and the first complaint.
  std::pair<HostArray<double>, std::string> values_of(const ScalarField& coefficient) const;
  std::vector<PointField> point_fields() const;
  std::vector<CellField> cell_fields() const;

  const CaseParameters& parameters_;
  const Discretization& discretization_;
  const HostVector<double>& solution_;
  const Communicator& ranks_;
  /// At the file's points.
  HostArray<double> exact_;
  HostArray<double> coefficient_;
};

/// What a solution's file is made of beside its parameters and space.
struct SolutionParts {
  const HostVector<double>& solution;
  /// Functions of physical positions.
  const std::optional<ScalarField>& exact;
  const ScalarField& coefficient;
  std::string status;
  std::optional<double> time;
};

/// ".vtu", or ".pvtu" of several ranks.
std::string solution_extension(const Communicator& ranks);

/// Adds the file to the set, with the extension of its ranks, which call this together; what cannot
/// be made of it becomes a note.
/// @return whether there is a file at all
bool add_solution_file(ResultSet& files, const std::string& name, const CaseParameters& parameters,
                       const Discretization& discretization, const SolutionParts& parts,
                       RunNotes& notes);

/// What is known of solution.vtu's size beforehand.
std::string solution_size_text(const CaseParameters& parameters);

/// The text of view.py, which shows a solution's file in ParaView, or plays solution.pvd.
/// @param series the range of the values over all of its times, if it is solution.pvd
std::string view_script_text(const CaseParameters& parameters, const std::string& status,
                             const std::string& grid_file,
                             std::optional<std::pair<double, double>> series = std::nullopt);

/// "Tessera VERSION (COMMIT)".
std::string program_name();

}  // namespace tessera
