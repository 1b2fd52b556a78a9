// This function solves a linear system as a case asks for it.
#pragma once

#include <functional>
#include <optional>

#include "cases/problem/poisson_problem.hpp"
#include "operators/multigrid/multigrid.hpp"
#include "postprocess/timing/timers.hpp"
#include "solvers/krylov/cg.hpp"
#include "solvers/nonlinear/nonlinear_solver.hpp"
#include "src/launches/launch_report.hpp"
#include "src/parameters/case_parameters.hpp"

namespace tessera {

/// What came of Newton's or Picard's iteration.
struct NonlinearOutcome {
  NonlinearReport report;
  /// What may help, if it did not converge.
  std::vector<std::string> remedies = {};
};

/// What came of a solve, beside the solution.
struct SolveOutcome {
  SolveReport report;
  Index operator_bytes = 0;
  /// Of one operator application.
  Work apply_work;
  /// Of a multigrid preconditioner, else empty.
  std::vector<LevelSummary> levels;
  /// Lines about the preconditioner.
  std::vector<std::string> notes;
  /// What was applied, as it calls itself.
  std::string operator_name = {};
  /// Of one application on its own, where an iteration has no such part; else 0.
  double apply_seconds = 0.0;
  /// Why a run in time ended before its end; empty if it did not.
  std::string failure = {};
  /// Of a non-linear case, whose report says the same as far as it can.
  std::optional<NonlinearOutcome> nonlinear = std::nullopt;
};

/// Who hears of a solve; none but the last may be empty.
struct SolveListeners {
  /// As SolveOptions::observer.
  std::function<Continue(int, double)> iteration;
  /// Before the first iteration: the levels of a multigrid preconditioner, or none, and lines about
  /// the preconditioner.
  std::function<void(const std::vector<LevelSummary>&, const std::vector<std::string>&)>
      preconditioner;
  /// After the solve: what operator and preconditioner launch on the GPU. Empty: nobody asks.
  std::function<void(std::vector<LaunchReport>)> launches = {};
};

/// Tells of more notes than those of the preconditioner, and keeps them.
inline void add_notes(const std::vector<std::string>& notes, const SolveListeners& listeners,
                      SolveOutcome& outcome) {
  if (notes.empty()) return;
  listeners.preconditioner({}, notes);
  outcome.notes.insert(outcome.notes.end(), notes.begin(), notes.end());
}

/// Makes the operator and the preconditioner that the case names ("setup" in the timers) and solves
/// the system ("solve"); the solution replaces system.x. Operator and vectors have the precision of
/// the case. The iteration is on the system in units of system_scale(), which are none of the
/// caller's business.
/// @param problem what form and system discretize; in natural_units(), if numbers are not to leave
///        the range of single precision
SolveOutcome solve(const CaseParameters& parameters, const PoissonProblem& problem,
                   const BilinearForm& form, LinearSystem& system, TimerTree& timers,
                   const SolveListeners& listeners);

/// Why a solve that did not converge probably did not, and what to try; one sentence each.
std::vector<std::string> likely_causes(const CaseParameters& parameters, const SolveReport& report);

}  // namespace tessera
