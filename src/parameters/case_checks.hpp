// These checks concern several keys of a case at once.
#pragma once

#include <string>
#include <vector>

#include "src/parameters/case_parameters.hpp"
#include "src/parameters/messages/findings.hpp"

namespace tessera {

/// What no key of a case shows alone: fills in the defaults that depend on other keys and reports
/// values that do not fit together.
void check_case(CaseParameters& parameters, const std::vector<KernelName>& kernels,
                const std::vector<std::string>& scatters,
                const std::vector<PreconditionerName>& preconditioners, Findings& findings);

}  // namespace tessera
