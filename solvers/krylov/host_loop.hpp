// This is the loop that all methods share whose scalars are on the host, with all of its endings.
#pragma once

#include <cmath>
#include <optional>

#include "solvers/krylov/stagnation.hpp"
#include "solvers/solver.hpp"

namespace tessera {

/// One iteration's outcome.
struct Step {
  /// The squared norm of the residual by recurrence, and the gain in the squared energy norm of the
  /// error; both are set if the iteration was completed.
  double rr = 0.0;
  double energy = 0.0;
  /// What prevented the iteration, which then does not count.
  std::optional<SolveStatus> failure = std::nullopt;
  /// Rounding spoiled the recurrences before they made a step: the iteration has to start again
  /// from b - A x.
  bool broken_down = false;
};

/// What prevents a step along p, for which p.Ap must be positive and finite.
inline std::optional<SolveStatus> failure_of(double pq) {
  if (!std::isfinite(pq)) return SolveStatus::not_finite;
  if (pq <= 0.0) return SolveStatus::indefinite;
  return std::nullopt;
}

/// Iterates to the end as the options say. All solvers on the host end here.
/// With several ranks all have an observer, or none has; the answer of one rank ends the solve.
/// @param iteration a HostIteration that has
///   void start()              begins anew from r = b - A x
///   Step step()               does one iteration
///   void replace_residual()   computes r = b - A x, from which the iteration goes on
template <class Iteration>
SolveReport run_on_host(Iteration& iteration, const SolveOptions& options) {
  SolveReport report;
  double norm_r = iteration.residual_norm(options.guess);
  const double reference = options.reference_norm > 0.0 ? options.reference_norm : norm_r;
  const double scale = reference > 0.0 ? 1.0 / reference : 0.0;
  report.reference_norm = reference;
  const auto finish = [&](SolveStatus status) {
    report.status = status;
    report.true_relative_residual = iteration.residual_norm() * scale;
    return report;
  };
  report.history.push_back(norm_r * scale);
  report.true_relative_residual = norm_r * scale;
  if (!std::isfinite(norm_r)) {
    report.status = SolveStatus::not_finite;
    return report;
  }
  if (norm_r * scale <= options.relative_tolerance) {
    report.status = SolveStatus::converged;
    return report;
  }

  StagnationMonitor monitor;
  double target = options.relative_tolerance;
  int restarts = 0;
  int since_replacement = 0;
  const double most = iteration.max_growth() * norm_r * scale;
  // Computes the residual anew, and returns whether it ends the solve.
  const auto is_true = [&] {
    report.true_relative_residual = iteration.residual_norm() * scale;
    return report.true_relative_residual <= options.relative_tolerance;
  };
  iteration.start();
  while (report.iterations < options.max_iterations) {
    if (options.replacement_interval > 0 && since_replacement == options.replacement_interval) {
      iteration.replace_residual();
      since_replacement = 0;
    }
    const Step step = iteration.step();
    if (step.failure) return finish(*step.failure);
    bool restart = step.broken_down;
    bool converged = restart && is_true();
    if (!step.broken_down) {
      ++report.iterations;
      ++since_replacement;
      const double relative = std::sqrt(step.rr) * scale;
      report.history.push_back(relative);
      if (!std::isfinite(relative)) return finish(SolveStatus::not_finite);
      restart = relative <= target;
      converged = restart && is_true();
      const bool goes_on =
          !options.observer ||
          !on_any_rank(iteration.layout(),
                       options.observer(report.iterations, relative) == Continue::no);
      if (!converged) {
        if (!goes_on) return finish(SolveStatus::interrupted);
        if (relative > most) return finish(SolveStatus::diverged);
        if (!restart && monitor.stagnates(report.iterations, relative, step.energy)) {
          return finish(SolveStatus::stagnated);
        }
      }
    }
    if (!restart) continue;
    if (converged || ++restarts > kMaxRestarts) {
      report.status = converged ? SolveStatus::converged : SolveStatus::stagnated;
      return report;
    }
    const double trusted = kTrueResidualSlack * options.relative_tolerance;
    if (step.broken_down || report.true_relative_residual > trusted) {
      iteration.start();
    } else {
      target = tightened_target(target, options.relative_tolerance, report.true_relative_residual);
      iteration.replace_residual();
    }
    since_replacement = 0;
  }
  return finish(SolveStatus::iteration_limit);
}

}  // namespace tessera
