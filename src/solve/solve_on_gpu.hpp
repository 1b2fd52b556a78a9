// This function solves a linear system on the GPU.
#pragma once

#include "src/solve/solve.hpp"

namespace tessera {

/// What a solve is of.
struct SolveTask {
  const CaseParameters& parameters;
  const PoissonProblem& problem;
  const BilinearForm& form;
  /// What the system is divided by, against what the problem gives.
  double scale;
};

/// As solve(), with operator, vectors and iteration on the GPU. What is within the solve cannot be
/// timed piece by piece there: an application of the operator, one of the preconditioner and the
/// parts of one cycle are timed before it and stand for all.
SolveOutcome solve_on_gpu(const SolveTask& task, LinearSystem& system, TimerTree& timers,
                          const SolveListeners& listeners);

}  // namespace tessera
