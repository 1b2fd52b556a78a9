// This file evaluates the fields of a case in time at several times.
#include "src/commands/time/tried_times.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "cases/problem/time_field.hpp"
#include "mesh/errors.hpp"
#include "mesh/geometry/geometric_factors.hpp"
#include "solvers/interruption.hpp"
#include "src/case/nonlinear/nonlinear_case.hpp"
#include "src/case/setup.hpp"
#include "src/case/time/problem_in_time.hpp"
#include "src/case/time/time_case.hpp"
#include "src/commands/run/run_notes.hpp"
#include "src/solve/time/moving_load.hpp"

namespace tessera {
namespace {

// Of times of output; each is a load vector to be assembled.
constexpr std::size_t kMaxOutputs = 6;

// Whether the exact solution changes in time.
bool has_moving_exact(const CaseParameters& parameters) {
  const std::optional<std::string>& exact = parameters.problem.exact;
  return exact && TimeField(*exact, parameters.mesh.dimension).depends_on_time();
}

void try_exact(const CaseParameters& parameters, const CaseModel& model, double t,
               std::vector<std::string>& notes) {
  try {
    try_at_nodes(model, *make_exact(parameters, t));
  } catch (const BadFieldValue& error) {
    notes.push_back(fmt::format("{}: a run will have no error there", failure_text(error)));
  }
}

// After the start.
std::vector<double> times_to_try(const CaseParameters& parameters) {
  const std::vector<double> outputs = output_times(*parameters.time);
  const std::size_t stride = (outputs.size() + kMaxOutputs - 1) / kMaxOutputs;
  std::vector<double> times = {typical_time(parameters)};
  for (std::size_t i = stride; i + 1 < outputs.size(); i += stride) times.push_back(outputs[i]);
  times.push_back(outputs.back());
  std::sort(times.begin(), times.end());
  return times;
}

}  // namespace

std::size_t try_times(const CaseParameters& parameters, const CaseModel& model,
                      std::vector<std::string>& notes) {
  if (!parameters.time || is_nonlinear(parameters)) return 0;
  const ProblemInTime in_time(parameters);
  const bool problem_moves = in_time.step_depends_on_time() || in_time.data_depend_on_time();
  const bool exact_moves = has_moving_exact(parameters);
  if (!problem_moves && !exact_moves) return 0;
  const std::vector<double> times = times_to_try(parameters);
  for (const double t : times) {
    stop_if_requested();
    const PoissonProblem problem = in_units(in_time.at(t), model.units);
    if (in_time.form_depends_on_time()) {
      check_geometry(model.discretization, problem.coefficient, problem.reaction);
    }
    if (in_time.capacity_depends_on_time()) {
      check_geometry(model.discretization, problem.coefficient, problem.capacity);
    }
    if (problem_moves) {
      const BilinearForm mass = mass_form(problem, model.discretization);
      MovingLoad<Host>(in_time, model.discretization, model.units, &mass).at(t);
    }
    if (exact_moves) try_exact(parameters, model, t, notes);
  }
  return times.size();
}

}  // namespace tessera
