#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "mesh/discretization.hpp"
#include "mesh/scalar_field.hpp"
#include "solvers/vector.hpp"
#include "src/parameters/case_parameters.hpp"

namespace tessera {

/// What solution.vtu shows beside the solution.
struct ShownFields {
  const ScalarField& coefficient;
  std::optional<ScalarField> exact;
};

/// Writes DIRECTORY/solution.vtu: at nodes "solution", and with `exact` "exact" and "error" =
/// solution - exact; of cells "coefficient", at the mean of the cell's corners. Turns the nodal
/// values in `solution` into those at equidistant nodes.
/// @param status as in VtuMetadata
/// @throws OutputError
void write_solution(const std::filesystem::path& directory, const CaseParameters& parameters,
                    const Discretization& discretization, const ShownFields& fields,
                    HostVector<double>& solution, const std::string& status);

/// Writes DIRECTORY/view.py, which shows solution.vtu in ParaView. @throws OutputError
void write_view_script(const std::filesystem::path& directory, const CaseParameters& parameters,
                       const std::string& status);

/// "Tessera VERSION (COMMIT)".
std::string program_name();

}  // namespace tessera
