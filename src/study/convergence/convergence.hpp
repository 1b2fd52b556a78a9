// The study of how errors of a case fall on finer and finer meshes.
#pragma once

#include "src/case/setup.hpp"
#include "src/commands.hpp"

namespace tessera {

/// Solves the case, which has an exact solution, on the meshes and with the degrees of the command,
/// prints a table and writes the files that the command names: what was measured before an error or
/// an interruption as well.
/// @param base the case as it is
/// @throws InputError, before anything is solved, for degrees that the case cannot have
ExitCode study_convergence(const ConvergenceCommand& command, const LoadedCase& base);

}  // namespace tessera
