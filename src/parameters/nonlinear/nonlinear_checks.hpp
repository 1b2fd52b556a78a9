// These checks concern the table [nonlinear] and what it has in common with other keys.
#pragma once

#include "src/parameters/case_parameters.hpp"
#include "src/parameters/messages/findings.hpp"

namespace tessera {

/// Reports what does not go with `[nonlinear]`, which is there as soon as its line is.
void check_nonlinear(CaseParameters& parameters, Findings& findings);

}  // namespace tessera
