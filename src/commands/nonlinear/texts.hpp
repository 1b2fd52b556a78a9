// What a run says of Newton's or Picard's iteration.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "src/parameters/case_parameters.hpp"
#include "src/solve/solve.hpp"

namespace tessera {

/// What a case is solved by: "newton with line search, relative tolerance 1e-10, at most 50
/// iterations".
std::string nonlinear_text(const CaseParameters& parameters);

/// How the iteration ended: "converged after 5 iterations of newton (23 of cg): relative residual
/// 3.1e-12 (from 1, target 1e-10)".
std::string ending_text(const CaseParameters& parameters, const SolveOutcome& outcome);

/// Why it did not converge, and what may help: a line each.
std::vector<std::string> complaints(const CaseParameters& parameters,
                                    const NonlinearOutcome& outcome);

/// "nonlinear" of result.json.
nlohmann::ordered_json nonlinear_json(const CaseParameters& parameters,
                                      const NonlinearOutcome& outcome);

}  // namespace tessera
