// The command check evaluates a case in time at more moments than its start here.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "src/case/model.hpp"
#include "src/parameters/case_parameters.hpp"

namespace tessera {

/// Evaluates what depends on the time at several moments after the start, wherever a run that came
/// to them would: coefficient, reaction, capacity, source and the values on faces. The moments are
/// one like most others, times of output, of many those that are spread over the case, and the end.
/// Nothing of a non-linear case, whose u is not known then.
/// @param model of the case at its start
/// @param notes get a line where the exact solution is not known, with which a run goes on
/// @return how many moments there were; 0 where nothing depends on the time
/// @throws InvertedCell, what the fields throw
std::size_t try_times(const CaseParameters& parameters, const CaseModel& model,
                      std::vector<std::string>& notes);

}  // namespace tessera
