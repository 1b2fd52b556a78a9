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

/// Whether the method takes a preconditioner that is another map in every application.
bool allows_another_map(SolverMethod method);

/// Whether the case's method can have multigrid with the precision of its cycles.
bool bears_single_precision_cycles(const CaseParameters& parameters);

/// Reports what does not go with the preconditioner, which is chosen already: part of check_case()
/// where the case names it.
void check_solver(const CaseParameters& parameters,
                  const std::vector<PreconditionerName>& preconditioners, Findings& findings);

/// The part of check_solver() that looks at the method, which Newton's iteration may choose: for
/// non-linear cases that name none, once it is chosen.
void check_asynchronous(const CaseParameters& parameters,
                        const std::vector<PreconditionerName>& preconditioners, Findings& findings);

}  // namespace tessera
