// For which cases preconditioners are the fastest, for their rows in the table.
#pragma once

#include <string>

#include "src/parameters/case_parameters.hpp"

namespace tessera {

/// Why fast diagonalization is not the inverse of the case's operator, is not to be had as soon as
/// multigrid, or is not for the case's start, in a user's words; empty if nothing speaks against
/// it.
std::string why_not_inverse(const CaseParameters& parameters);

/// Why multigrid is not for the case's method, in a user's words; empty if it is.
std::string why_not_multigrid(const CaseParameters& parameters);

}  // namespace tessera
