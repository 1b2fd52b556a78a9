// This function solves a non-linear case without time.
#pragma once

#include "solvers/nonlinear/nonlinear_solver.hpp"
#include "src/case/model.hpp"
#include "src/solve/solve.hpp"

namespace tessera {

/// What the iteration of the case is asked for.
NonlinearOptions nonlinear_options(const NonlinearParameters& nonlinear);

/// Where the solve starts: the initial values of the case, with Dirichlet values set.
HostVector<double> nonlinear_start(const CaseModel& model, const ScalarField& initial);

/// Solves the non-linear case by the method that it names ("solve" in the timers, with the parts
/// residual, linearize, apply, precondition), and has in the outcome's report the residuals of that
/// iteration, the iterations of all linear solves, and how it ended.
/// @param parameters without `auto`
/// @param u where it starts, as of nonlinear_start(); becomes the solution or the last iterate
/// @throws what the case's fields throw at the start; UndeterminedSolution, UnsuitableChoice;
///         Interrupted before the first iteration
SolveOutcome solve_nonlinear_case(const CaseParameters& parameters, const CaseModel& model,
                                  HostVector<double>& u, TimerTree& timers,
                                  const SolveListeners& listeners);

}  // namespace tessera
