// This file checks the table [nonlinear] against other keys.
#include "src/parameters/nonlinear/nonlinear_checks.hpp"

#include <fmt/format.h>

namespace tessera {
namespace {

// Keys of the table that mean nothing with its method.
void check_method(const NonlinearParameters& nonlinear, Findings& findings) {
  if (findings.has_error("nonlinear.method")) return;
  const NonlinearParameters defaults;
  const auto check = [&](const char* key, bool is_default, NonlinearMethod method) {
    if (is_default || nonlinear.method == method || findings.has_error(key)) return;
    findings.report(key, fmt::format("must be left out with nonlinear.method = \"{}\"; it is for "
                                     "\"{}\"",
                                     name_of(nonlinear.method), name_of(method)));
  };
  check("nonlinear.acceleration", nonlinear.acceleration == defaults.acceleration,
        NonlinearMethod::picard);
  check("nonlinear.line_search", nonlinear.line_search == defaults.line_search,
        NonlinearMethod::newton);
}

void check_time_steps(const CaseParameters& parameters, Findings& findings) {
  if (parameters.nonlinear->method == NonlinearMethod::picard &&
      !findings.has_error("nonlinear.method")) {
    findings.report("nonlinear.method",
                    "must be \"newton\" with [time], whose steps start near their solution");
  }
  if (parameters.time->method == TimeMethod::explicit_rk && !findings.has_error("time.method")) {
    findings.report("time.method",
                    "must be implicit with [nonlinear]: \"sdirk\", \"bdf\" or "
                    "\"backward-euler\"");
  }
}

}  // namespace

void check_nonlinear(CaseParameters& parameters, Findings& findings) {
  if (!parameters.nonlinear && findings.is_written("nonlinear") &&
      !findings.has_error("nonlinear")) {
    parameters.nonlinear.emplace();
  }
  if (!parameters.nonlinear) return;
  check_method(*parameters.nonlinear, findings);
  if (parameters.time) check_time_steps(parameters, findings);
  if (parameters.solver.initial == kFullMultigrid && !findings.has_error("solver.initial")) {
    findings.report("solver.initial",
                    fmt::format("\"{}\" is for linear problems; with [nonlinear] give an "
                                "expression, where the iteration starts",
                                kFullMultigrid));
  }
  if (parameters.operation.precision != Precision::double_precision &&
      !findings.has_error("operator.precision")) {
    findings.report("operator.precision",
                    "non-linear problems are computed in double precision; allowed with "
                    "[nonlinear]: \"double\"");
  }
}

}  // namespace tessera
