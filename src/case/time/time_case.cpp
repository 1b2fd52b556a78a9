// This file says what [time] means for outputs and decisions.
#include "src/case/time/time_case.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "cases/problem/time_field.hpp"

namespace tessera {
namespace {

std::string method_text(const TimeParameters& time) {
  const std::string_view name = name_of(time.method);
  switch (time.method) {
    case TimeMethod::backward_euler:
      return std::string(name);
    case TimeMethod::bdf:
      return fmt::format("{} of orders up to {}", name, time.order);
    case TimeMethod::sdirk:
    case TimeMethod::explicit_rk:
      break;
  }
  return fmt::format("{} of order {}", name, time.order);
}

}  // namespace

bool solves_systems(const CaseParameters& parameters) {
  return !parameters.time || parameters.time->method != TimeMethod::explicit_rk;
}

TimeOptions time_options(const CaseParameters& parameters) {
  const TimeParameters& time = *parameters.time;
  TimeOptions options;
  options.method = time.method;
  options.order = time.order;
  options.start = time.start;
  options.step = time.step;
  if (time.tolerance) options.tolerance = *time.tolerance;
  options.absolute_tolerance = time.absolute_tolerance;
  options.max_step = time.max_step;
  if (parameters.nonlinear) {
    options.nonlinear_tolerance = parameters.nonlinear->relative_tolerance;
    options.max_nonlinear_iterations = parameters.nonlinear->max_iterations;
  }
  return options;
}

namespace {

// Of an interval between outputs, and of the whole time: what is less is rounding.
constexpr double kRounding = 1e-9;

double output_interval(const TimeParameters& time) {
  return time.output_interval.value_or(time.end - time.start);
}

}  // namespace

double time_rounding(const TimeParameters& time) {
  return kRounding * std::min(output_interval(time), time.end - time.start);
}

std::vector<double> output_times(const TimeParameters& time) {
  const double duration = time.end - time.start;
  const double interval = output_interval(time);
  // Checked to be no more than kMaxOutputs.
  const int count = std::max(1, static_cast<int>(std::ceil(duration / interval - kRounding)));
  std::vector<double> times;
  times.reserve(static_cast<std::size_t>(count) + 1);
  for (int i = 0; i < count; ++i) times.push_back(time.start + i * interval);
  times.push_back(time.end);
  return times;
}

std::string time_text(const TimeParameters& time) {
  std::string steps = time.step ? fmt::format("steps of {:g}", *time.step)
                                : fmt::format("steps by tolerance {:g}", *time.tolerance);
  if (time.absolute_tolerance != time.tolerance) {
    steps += fmt::format(" (absolute {:g})", *time.absolute_tolerance);
  }
  if (time.max_step) steps += fmt::format(", at most {:g} long", *time.max_step);
  const std::string output = time.output_interval
                                 ? fmt::format("output every {:g} ({} times)",
                                               *time.output_interval, output_times(time).size())
                                 : "output at start and end";
  return fmt::format("{:g} to {:g}, {}, {}, {}", time.start, time.end, method_text(time), steps,
                     output);
}

double typical_time(const CaseParameters& parameters) {
  // Neither periods nor simple fractions meet it.
  constexpr double kShare = 0.3819660112501051;
  const auto& time = parameters.time;
  return time ? time->start + kShare * (time->end - time->start) : 0.0;
}

ScalarField typical_field(const CaseParameters& parameters, const std::string& text) {
  return TimeField(text, parameters.mesh.dimension, Variables::position_time_and_u)
      .at(typical_time(parameters));
}

ReactionKind operator_reaction(const CaseParameters& parameters) {
  // A Jacobian has the derivative of the source in it.
  if (parameters.nonlinear && parameters.nonlinear->method == NonlinearMethod::newton &&
      typical_field(parameters, parameters.problem.source).depends_on_u) {
    return ReactionKind::varying;
  }
  const ReactionKind reaction =
      reaction_kind(typical_field(parameters, parameters.problem.reaction));
  if (!parameters.time || reaction == ReactionKind::varying) return reaction;
  return typical_field(parameters, parameters.problem.capacity).constant ? ReactionKind::constant
                                                                         : ReactionKind::varying;
}

}  // namespace tessera
