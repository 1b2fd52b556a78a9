// This file puts the iteration of a non-linear case into words and JSON.
#include "src/commands/nonlinear/texts.hpp"

#include <fmt/format.h>

namespace tessera {

std::string nonlinear_text(const CaseParameters& parameters) {
  const NonlinearParameters& nonlinear = *parameters.nonlinear;
  std::string how;
  if (nonlinear.method == NonlinearMethod::newton) {
    if (nonlinear.line_search && !parameters.time) how = " with line search";
  } else if (nonlinear.acceleration > 0) {
    how = fmt::format(" with Anderson acceleration of depth {}", nonlinear.acceleration);
  }
  return fmt::format("{}{}, relative tolerance {:g}, at most {} iterations",
                     name_of(nonlinear.method), how, nonlinear.relative_tolerance,
                     nonlinear.max_iterations);
}

std::string ending_text(const CaseParameters& parameters, const SolveOutcome& outcome) {
  const NonlinearParameters& nonlinear = *parameters.nonlinear;
  const NonlinearReport& report = outcome.nonlinear->report;
  return fmt::format(
      "{} after {} iteration{} of {} ({} of {}): relative residual {:.3g} (from {:.3g}, target "
      "{:g})",
      status_name(report.status), report.iterations, report.iterations == 1 ? "" : "s",
      name_of(nonlinear.method), outcome.report.iterations, name_of(parameters.solver.method),
      report.history.back(), report.history.front(), nonlinear.relative_tolerance);
}

std::vector<std::string> complaints(const CaseParameters& parameters,
                                    const NonlinearOutcome& outcome) {
  std::vector<std::string> lines = {fmt::format(
      "{} did not converge: {}", name_of(parameters.nonlinear->method), outcome.report.failure)};
  for (const std::string& remedy : outcome.remedies) {
    lines.push_back(fmt::format("what may help: {}", remedy));
  }
  return lines;
}

nlohmann::ordered_json nonlinear_json(const CaseParameters& parameters,
                                      const NonlinearOutcome& outcome) {
  const NonlinearReport& report = outcome.report;
  return {{"method", name_of(parameters.nonlinear->method)},
          {"status", status_name(report.status)},
          {"converged", report.status == NonlinearStatus::converged},
          {"iterations", report.iterations},
          {"relative_residual", report.history.back()},
          {"relative_tolerance", parameters.nonlinear->relative_tolerance},
          {"history", report.history},
          {"linear_iterations", report.linear_iterations},
          {"damping", report.damping},
          {"failure", report.failure},
          {"likely_remedies", outcome.remedies}};
}

}  // namespace tessera
