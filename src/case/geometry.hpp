// These functions say how operators of a case keep their geometric factors, and what they are
// called.
#pragma once

#include <string>

#include "operators/strategy.hpp"
#include "operators/tensor/geometry_choice.hpp"
#include "src/parameters/case_parameters.hpp"
#include "src/parameters/findings.hpp"

namespace tessera {

/// What decides which forms of the geometric factors the case can have.
GeometrySetting case_geometry_setting(const CaseParameters& parameters);

/// The form of the geometric factors that an operator of the case has with this kernel: the case's
/// where it means anything, chosen by choose_geometry() if that is "auto"; else `stored`.
GeometryForm case_geometry(const CaseParameters& parameters, const std::string& kernel);

/// What an operator of the case by the strategy is called: by the name() of what is made.
OperatorLabel case_label(const CaseParameters& parameters, const StrategyName& strategy);
/// The same as one text: "csr", "tensor/coloring, stored" where the form of the factors means
/// anything.
std::string strategy_text(const CaseParameters& parameters, const StrategyName& strategy);

/// Why the strategy's scatter policy is not possible in the case, with the form of the geometric
/// factors that it has there, in a user's words; empty if it is.
std::string why_no_scatter(const CaseParameters& parameters, const StrategyName& strategy);

/// Replaces `auto` by the form that suits the case, whose kernel is chosen already: `stored` where
/// the form means nothing. Returns what to say of it, "stencil (auto: degree 1)", or "stencil" if
/// the case names it; empty where it means nothing.
std::string choose_geometry(CaseParameters& parameters);

/// Reports a form that the case cannot have or that means nothing to it. One that is written in the
/// file gives way to `auto` if the command line changes what it goes with.
void check_geometry_form(CaseParameters& parameters, Findings& findings);

/// Reports a scatter policy that is not possible with the form of the case's geometric factors.
void check_scatter_of_geometry(const CaseParameters& parameters, Findings& findings);

}  // namespace tessera
