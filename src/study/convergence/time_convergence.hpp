// The study of how errors of a case in time fall with its steps.
#pragma once

#include "src/case/setup.hpp"
#include "src/commands.hpp"

namespace tessera {

/// Solves the case, which has `[time]` and an exact solution, with its steps and with shorter and
/// shorter ones, each half of those before (or, of steps that adapt, to a tenth of the tolerance),
/// for each degree of the command (if it names none, the case's); prints tables and writes the
/// files that the command names.
/// @param base the case as it is
/// @throws InputError, before anything is solved, for degrees that the case cannot have
ExitCode study_time_convergence(const ConvergenceCommand& command, const LoadedCase& base);

}  // namespace tessera
