// A SolutionFile is the content of solution.vtu.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "mesh/discretization.hpp"
#include "mesh/lanes/host_array.hpp"
#include "mesh/scalar_field.hpp"
#include "postprocess/files/atomic_file.hpp"
#include "solvers/memory/vector.hpp"
#include "src/commands/run/result_set.hpp"
#include "src/commands/run/run_notes.hpp"
#include "src/parameters/case_parameters.hpp"

namespace tessera {

/// The content of solution.vtu: at nodes "solution" and, if it was added, "exact" and "error" =
/// solution - exact; of cells, if it was added, "coefficient", at the mean of the cell's corners.
/// Each part stands for itself, so that the others can be written if one cannot be made.
class SolutionFile {
 public:
  /// All three are referred to. @param discretization in any frame
  SolutionFile(const CaseParameters& parameters, const Discretization& discretization,
               const HostVector<double>& solution)
      : parameters_(parameters), discretization_(discretization), solution_(solution) {}

  /// @throws what the field throws; then nothing is added
  void add_exact(const ScalarField& exact);
  /// NaN where the coefficient, which the operator has at other points, is not positive and finite.
  /// @return the first of its complaints, empty if there were none
  std::string add_coefficient(const ScalarField& coefficient);
  /// Writes all that was added and does not commit the file. @throws OutputError
  /// @param status, time as in VtuMetadata
  /// @return what it has in double precision although output.vtk_precision is single
  /// (vtu_writer.hpp)
  std::vector<std::string> write(AtomicFile& file, const std::string& status,
                                 std::optional<double> time = std::nullopt) const;

 private:
  const CaseParameters& parameters_;
  const Discretization& discretization_;
  const HostVector<double>& solution_;
  HostVector<double> exact_;
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

/// Adds the file to the set; what cannot be made of it becomes a note.
/// @return whether there is a file at all
bool add_solution_file(ResultSet& files, const std::string& name, const CaseParameters& parameters,
                       const Discretization& discretization, const SolutionParts& parts,
                       RunNotes& notes);

/// What is known of solution.vtu's size beforehand.
std::string solution_size_text(const CaseParameters& parameters);

/// The text of view.py, which shows solution.vtu in ParaView, or plays solution.pvd.
/// @param series the range of the values over all of its times, if there is one
std::string view_script_text(const CaseParameters& parameters, const std::string& status,
                             std::optional<std::pair<double, double>> series = std::nullopt);

/// "Tessera VERSION (COMMIT)".
std::string program_name();

}  // namespace tessera
