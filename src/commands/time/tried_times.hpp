// The command check evaluates a case in time at more moments than its start here.
#pragma once

#include <string>
#include <vector>

#include "src/case/model.hpp"
#include "src/parameters/case_parameters.hpp"

namespace tessera {

/// The moments after the start at which try_times() looks: a moment like most others, times of
/// output, of many those that are spread over the case, and the end, in that order; none for a case
/// that does not depend on time.
std::vector<double> tried_times(const CaseParameters& parameters);

/// Evaluates what depends on the time at these moments, wherever a run that came to them would:
/// coefficient, reaction, capacity, source and the values on faces. Nothing of a non-linear case,
/// whose u is not known then.
/// @param model of the case at its start
/// @param notes get a line where the exact solution is not known, with which a run goes on
/// @throws InvertedCell, what the fields throw
void try_times(const CaseParameters& parameters, const CaseModel& model,
               std::vector<std::string>& notes);

}  // namespace tessera
