// This file checks the table [time] against itself and against other keys.
#include "src/parameters/time/time_checks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "src/parameters/limits.hpp"

namespace tessera {
namespace {

constexpr double kDefaultTolerance = 1e-4;
/// SUNDIALS multiplies times by steps, and the products must not vanish.
constexpr double kShortestDuration = 1e-150;

struct Orders {
  int lowest;
  int highest;
  int otherwise;
};

Orders orders_of(TimeMethod method) {
  switch (method) {
    case TimeMethod::backward_euler:
      return {1, 1, 1};
    case TimeMethod::bdf:
      return {1, kMaxTimeOrder, kMaxTimeOrder};
    case TimeMethod::sdirk:
    case TimeMethod::explicit_rk:
      return {2, 4, 3};
  }
  throw std::logic_error("a method in time without orders");
}

void check_order(TimeParameters& time, Findings& findings) {
  if (findings.has_error("time.method") || findings.has_error("time.order")) return;
  const Orders orders = orders_of(time.method);
  if (time.order == 0) time.order = orders.otherwise;
  if (time.order >= orders.lowest && time.order <= orders.highest) return;
  const std::string allowed = orders.lowest == orders.highest
                                  ? fmt::format("{}", orders.lowest)
                                  : fmt::format("from {} to {}", orders.lowest, orders.highest);
  findings.report("time.order", fmt::format("must be {} with time.method = \"{}\"", allowed,
                                            name_of(time.method)));
}

/// Whether start and end are right.
bool check_end(const TimeParameters& time, Findings& findings) {
  if (findings.has_error("time.start") || findings.has_error("time.end")) return false;
  const double duration = time.end - time.start;
  if (duration >= kShortestDuration && std::isfinite(duration)) return true;
  std::string by;
  if (duration > 0.0) {
    by = std::isfinite(duration) ? ", by at least " + number_text(kShortestDuration)
                                 : ", by a finite number";
  }
  findings.report("time.end", fmt::format("must be greater than time.start = {}{}",
                                          number_text(time.start), by));
  return false;
}

// Whether the command line gives one of two keys, and the file the other.
bool replaces(const char* one, const char* other, const Findings& findings) {
  return findings.is_written(one, Layer::override_option) &&
         findings.is_written(other, Layer::file);
}

// Takes away what only adaptive steps have where the command line asks for others.
void check_adaptive_only(const char* key, std::optional<double>& value, const char* why,
                         const TimeParameters& time, Findings& findings) {
  if (findings.has_error(key) || !time.step || !value) return;
  if (replaces("time.step", key, findings)) {
    value.reset();
    return;
  }
  findings.report(
      key, fmt::format("must be left out with time.step = {}: {}", number_text(*time.step), why));
}

void check_keys_of_adaptive_steps(TimeParameters& time, Findings& findings) {
  if (time.tolerance && time.step) return;
  if (time.tolerance && !time.absolute_tolerance) time.absolute_tolerance = time.tolerance;
  check_adaptive_only("time.absolute_tolerance", time.absolute_tolerance,
                      "steps of one length do not adapt to a tolerance", time, findings);
  check_adaptive_only("time.max_step", time.max_step, "all steps have that length", time, findings);
}

/// One of tolerance and step. What the command line gives replaces the other one of the file.
void check_step_choice(TimeParameters& time, Findings& findings) {
  if (findings.has_error("time.tolerance") || findings.has_error("time.step")) return;
  if (time.tolerance && time.step) {
    if (replaces("time.step", "time.tolerance", findings)) {
      time.tolerance.reset();
    } else if (replaces("time.tolerance", "time.step", findings)) {
      time.step.reset();
    } else {
      findings.report("time.step",
                      fmt::format("must be left out with time.tolerance = {}, to which steps "
                                  "adapt; only one of them can be given",
                                  number_text(*time.tolerance)));
    }
  }
  if (!time.tolerance && !time.step) time.tolerance = kDefaultTolerance;
  check_keys_of_adaptive_steps(time, findings);
  if (time.method == TimeMethod::bdf && time.step && !findings.has_error("time.method") &&
      !findings.has_error("time.step")) {
    findings.report("time.step",
                    "must be left out with time.method = \"bdf\", which chooses its steps: give "
                    "time.tolerance");
  }
}

/// Steps and intervals that are too small.
void check_lengths(const TimeParameters& time, Findings& findings) {
  // A few units in the last place of the times that it is added to.
  const double latest = std::max(std::abs(time.start), std::abs(time.end));
  const double least = 1e-15 * latest;
  const auto check_rounding = [&](const char* key, const std::optional<double>& length) {
    if (!length || *length >= least || findings.has_error(key)) return;
    findings.report(key,
                    fmt::format("must be at least {}: less is lost in rounding beside the time {}",
                                number_text(least), number_text(latest)));
  };
  check_rounding("time.step", time.step);
  check_rounding("time.max_step", time.max_step);
  const char* interval = "time.output_interval";
  if (time.output_interval && !findings.has_error(interval) &&
      (time.end - time.start) / *time.output_interval > kMaxOutputs) {
    findings.report(interval,
                    fmt::format("makes more than {} outputs between time.start = {} and "
                                "time.end = {}; it must be at least {}",
                                kMaxOutputs, number_text(time.start), number_text(time.end),
                                number_text((time.end - time.start) / kMaxOutputs)));
  }
  check_rounding(interval, time.output_interval);
  check_rounding("time.checkpoint_interval", time.checkpoint_interval);
}

/// Keys of other tables that a case in time cannot have, or not yet.
void check_other_tables(const CaseParameters& parameters, Findings& findings) {
  if (!findings.has_error("time.method") && !findings.has_error("space.nodes") &&
      parameters.time->method == TimeMethod::explicit_rk &&
      parameters.space.nodes != NodeFamily::gauss_lobatto) {
    findings.report(
        "space.nodes",
        fmt::format("must be \"{}\" with time.method = \"{}\", whose mass is lumped at "
                    "the nodes",
                    name_of(NodeFamily::gauss_lobatto), name_of(TimeMethod::explicit_rk)));
  }
  if (parameters.solver.initial != SolverParameters{}.initial &&
      !findings.has_error("solver.initial")) {
    findings.report("solver.initial",
                    "must be left out with [time]: time.initial is u at the start, and the solves "
                    "of a step start from the one before");
  }
  if (parameters.operation.precision != Precision::double_precision &&
      !findings.has_error("operator.precision")) {
    findings.report("operator.precision",
                    "time steps are computed in double precision so far; allowed with [time]: "
                    "\"double\"");
  }
}

}  // namespace

void check_time(CaseParameters& parameters, Findings& findings) {
  if (!parameters.time) {
    const bool has_table = findings.is_written("time");
    if (!has_table && parameters.problem.capacity != ProblemParameters{}.capacity &&
        !findings.has_error("problem.capacity")) {
      findings.report("problem.capacity",
                      "means nothing without [time]: it is the factor of du/dt; leave it out, or "
                      "give time.end");
    }
    return;
  }
  TimeParameters& time = *parameters.time;
  check_order(time, findings);
  check_step_choice(time, findings);
  if (check_end(time, findings)) check_lengths(time, findings);
  check_other_tables(parameters, findings);
}

}  // namespace tessera
