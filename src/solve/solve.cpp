// This file solves a case, and says why it may not have converged.
#include "src/solve/solve.hpp"

#include <fmt/format.h>

#include <utility>

#include "src/case/dispatch.hpp"
#include "src/case/notes.hpp"
#include "src/case/shape.hpp"
#include "src/case/system_scale.hpp"
#include "src/solve/solve_in.hpp"

namespace tessera {
namespace {

// Why a solve with the preconditioner may need more iterations than it may take, and what to try.
std::vector<std::string> causes_of_many_iterations(const SolverParameters& solver) {
  const std::string too_few =
      fmt::format("solver.max_iterations = {} is too few", solver.max_iterations);
  const std::string try_multigrid = "try solver.preconditioner = \"multigrid\"";
  if (solver.preconditioner == kMultigrid) {
    std::vector<std::string> causes = {
        too_few +
        ": multigrid's iterations do not grow with mesh and degree, but with cells far longer "
        "than wide and with jumps of the coefficient"};
    if (solver.multigrid.precision == Precision::single_precision) {
      causes.emplace_back(
          "where cells or coefficients spread over many orders of magnitude, cycles in single "
          "precision stall: try solver.multigrid.precision = \"double\"");
    }
    return causes;
  }
  if (solver.preconditioner == kFastDiagonalization) {
    return {too_few +
                ": iterations with fast-diagonalization grow with how far map and coefficient are "
                "from products of functions of one coordinate",
            try_multigrid};
  }
  const bool is_plain = solver.preconditioner == kNoPreconditioner;
  return {too_few +
              " for this mesh and degree: iterations grow with cells per axis times degree squared",
          (is_plain ? "no preconditioner: " : "") + try_multigrid};
}

}  // namespace

SolveOutcome solve(const CaseParameters& parameters, const PoissonProblem& problem,
                   const BilinearForm& form, LinearSystem& system, TimerTree& timers,
                   const SolveListeners& listeners) {
  const double scale = system_scale(system, form);
  divide(system, form, scale);
  const SolveTask task{parameters, problem, form, scale};
  SolveOutcome outcome = with_scalar_and_space(
      parameters.operation.precision, case_processor(parameters),
      [&]<class T, class Space>() { return solve_in<T, Space>(task, system, timers, listeners); });
  divide(system, form, 1.0 / scale);
  outcome.report.reference_norm *= scale;
  return outcome;
}

std::vector<std::string> likely_causes(const CaseParameters& parameters,
                                       const SolveReport& report) {
  const bool single = parameters.operation.precision == Precision::single_precision;
  std::vector<std::string> causes;
  switch (report.status) {
    case SolveStatus::converged:
      break;
    case SolveStatus::interrupted:
      causes.emplace_back("a signal (Ctrl-C) stopped the iteration");
      break;
    case SolveStatus::iteration_limit:
      causes = causes_of_many_iterations(parameters.solver);
      break;
    case SolveStatus::stagnated:
      causes.push_back(fmt::format(
          "solver.relative_tolerance = {} is below what rounding in {} precision lets this matrix "
          "reach",
          parameters.solver.relative_tolerance, name_of(parameters.operation.precision)));
      if (single) causes.emplace_back("try operator.precision = \"double\"");
      if (parameters.solver.method == SolverMethod::flexible_gmres) {
        causes.push_back(fmt::format(
            "or solver.restart = {} directions are too few: try more, or a better preconditioner",
            parameters.solver.restart));
      } else if (parameters.solver.method == SolverMethod::bicgstab) {
        causes.emplace_back(
            "or bicgstab found no direction to go on: try solver.method = \"flexible-gmres\"");
      }
      break;
    case SolveStatus::diverged:
      causes.push_back(fmt::format(
          "the method {} needs a preconditioner near enough to the inverse: try more smoothing, or "
          "solver.method = \"cg\"",
          name_of(parameters.solver.method)));
      break;
    case SolveStatus::indefinite:
      causes.emplace_back(
          "p.Ap <= 0 in an operator that is positive definite without rounding: coefficients or "
          "cell shapes spread over too many orders of magnitude");
      if (single) causes.emplace_back("try operator.precision = \"double\"");
      break;
    case SolveStatus::no_step:
      // Of an integration, which says why.
      break;
    case SolveStatus::not_finite:
      causes.push_back(fmt::format(
          "a number overflowed in {} precision: coefficient, source or boundary values are too "
          "large",
          name_of(parameters.operation.precision)));
      break;
  }
  if (report.status == SolveStatus::converged || report.status == SolveStatus::interrupted) {
    return causes;
  }
  std::string lost = lost_digits_text(parameters);
  if (!lost.empty()) causes.insert(causes.begin(), std::move(lost));
  return causes;
}

}  // namespace tessera
