// The strategy of a case: what it names, what `auto` stands for, and why a choice is not possible.
#pragma once

#include <string>
#include <vector>

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

/// What stands for an `auto` of the case: "operator.kernel", "tensor", "the mesh is mapped".
struct ChosenValue {
  std::string key;
  std::string value;
  std::string reason;
};

/// " (auto: the mesh is mapped)"; empty if nothing was chosen for the key.
std::string reason_text(const std::vector<ChosenValue>& choices, std::string_view key);

/// Replaces each `auto` of the strategy by what suits the case, whose device is chosen already. A
/// kernel that takes no scatter policy gets none, and factors are `stored` where that means
/// nothing. Returns what was chosen, but for what means nothing.
std::vector<ChosenValue> resolve_strategy(CaseParameters& parameters);

/// Whether the case's conjugate gradients go in one kernel of the GPU with an operator of this
/// kernel.
bool case_iterates_in_one_kernel(const CaseParameters& parameters, const std::string& kernel);

/// Whether every run of the case has to give the same bits.
Deterministic demanded_bits(const CaseParameters& parameters);

/// The scatter policy of kernels that the case does not name, those of coarser levels: the one that
/// it names, else the fastest.
std::string level_scatter(const CaseParameters& parameters);

/// Why the processor does not have what the case names of its strategy, with the same bits in every
/// run where the case demands them, in a user's words; empty if it has.
std::string why_not_processor(const CaseParameters& parameters, Processor processor);

/// Reports what the case's processor does not have, and a policy that is for comparisons.
/// @param why_device why `auto` took the processor; empty if the case names it
void check_processor(const CaseParameters& parameters, const std::string& why_device,
                     Findings& findings);

/// Reports a scatter policy that adds in another order in every run where the case forbids that.
void check_deterministic(const CaseParameters& parameters, Findings& findings);

/// Reports a kernel that is not for the case.
void check_kernel(const CaseParameters& parameters, Findings& findings);

/// Reports a storage of factors that the case cannot have or that means nothing to it. One that is
/// written in the file gives way to `auto` if the command line changes what it depends on.
void check_factors(CaseParameters& parameters, Findings& findings);

/// Reports a scatter policy that is not possible with the storage of the case's factors.
void check_scatter_of_factors(const CaseParameters& parameters, Findings& findings);

}  // namespace tessera
