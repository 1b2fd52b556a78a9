// These checks concern the table [time] and what it has in common with other keys.
#pragma once

#include "src/parameters/case_parameters.hpp"
#include "src/parameters/messages/findings.hpp"

namespace tessera {

/// Fills in the order and the tolerance of a case that depends on time, and reports what does not
/// fit together; without `[time]`, what means nothing then.
void check_time(CaseParameters& parameters, Findings& findings);

}  // namespace tessera
