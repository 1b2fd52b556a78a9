#pragma once

#include <functional>

#include "cases/poisson_problem.hpp"
#include "postprocess/timers.hpp"
#include "solvers/cg.hpp"
#include "src/parameters/case_parameters.hpp"

namespace tessera {

/// What came of a solve, beside the solution.
struct SolveOutcome {
  SolveReport report;
  Index operator_bytes = 0;
  /// Of one operator application.
  Work apply_work;
};

/// Makes the operator and the preconditioner that the case names ("setup" in the timers) and solves
/// the system ("solve"); the solution replaces system.x. Operator and vectors have the precision of
/// the case.
/// @param observer as CgOptions::observer
SolveOutcome solve(const CaseParameters& parameters, const StiffnessForm& form,
                   LinearSystem& system, TimerTree& timers,
                   const std::function<Continue(int, double)>& observer);

/// Why a solve that did not converge probably did not, and what to try; one sentence each.
std::vector<std::string> likely_causes(const CaseParameters& parameters, const SolveReport& report);

}  // namespace tessera
