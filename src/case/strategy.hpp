// The strategy of a case: what it names, what `auto` stands for, and why a choice is not possible.
#pragma once

#include <string>

#include "operators/strategy.hpp"
#include "src/parameters/case_parameters.hpp"
#include "src/parameters/messages/findings.hpp"

namespace tessera {

/// The strategy of the case, whose kernel is chosen already, as its operator will be called: with
/// the storage of factors that the case names, or that suits where it leaves the choice.
StrategyName case_strategy(const CaseParameters& parameters);

/// Another strategy in the case, with the case's storage of factors.
StrategyName case_strategy(const CaseParameters& parameters, const StrategyName& other);

/// Makes the strategy the one that the case names.
void set_strategy(CaseParameters& parameters, const StrategyName& strategy);

/// Replaces `auto` by the kernel that suits the case; a kernel that takes no scatter policy gets
/// none. Returns why, "auto: the mesh is mapped"; empty if the case names a kernel.
std::string resolve_kernel(CaseParameters& parameters);

/// Replaces `auto` by the storage of factors that suits the case, whose kernel is chosen already:
/// `stored` where the storage means nothing. Returns what to say of it, "compressed (auto: 3D on
/// the GPU)", or "compressed" if the case names it; empty where it means nothing.
std::string resolve_factors(CaseParameters& parameters);

/// Reports a kernel that is not for the case.
void check_kernel(const CaseParameters& parameters, Findings& findings);

/// Reports a storage of factors that the case cannot have or that means nothing to it. One that is
/// written in the file gives way to `auto` if the command line changes what it depends on.
void check_factors(CaseParameters& parameters, Findings& findings);

/// Reports a scatter policy that is not possible with the storage of the case's factors.
void check_scatter_of_factors(const CaseParameters& parameters, Findings& findings);

}  // namespace tessera
