// This function measures the solvers of a study side by side.
#pragma once

#include "src/commands.hpp"
#include "src/parameters/study_parameters.hpp"

namespace tessera {

/// Measures the solvers of a study side by side and prints a table as it grows; writes the study's
/// CSV. Success if all that was measured converged.
ExitCode compare_solvers(const StudyParameters& study, Verbosity verbosity);

}  // namespace tessera
