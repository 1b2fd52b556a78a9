// This file knows the sizes that the phases of a run are made of.
#include "src/case/memory/case_sizes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <stdexcept>

#include "operators/nonlinear/device_drift.hpp"
#include "operators/tensor/gpu/factors.hpp"
#include "src/case/memory/multigrid_memory.hpp"
#include "src/case/memory/preconditioner_memory.hpp"
#include "src/case/nonlinear/nonlinear_case.hpp"
#include "src/case/time/problem_in_time.hpp"
#include "src/case/time/time_case.hpp"

namespace tessera {
namespace {

// Whether the steps are FixedImplicit's.
bool are_fixed_implicit(const CaseParameters& parameters) {
  const TimeParameters& time = *parameters.time;
  if (!time.step || is_nonlinear(parameters)) return false;
  return time.method == TimeMethod::backward_euler ||
         (time.method == TimeMethod::sdirk &&
          !ProblemInTime(parameters).capacity_depends_on_time());
}

// The stages of a method in time, or what BDF keeps of earlier steps, in vectors.
int stage_vectors(const CaseParameters& parameters) {
  constexpr std::array<int, 3> kImplicitStages = {3, 4, 6};
  constexpr std::array<int, 3> kExplicitStages = {2, 4, 5};
  const TimeParameters& time = *parameters.time;
  const auto row = static_cast<std::size_t>(time.order - 2);
  switch (time.method) {
    case TimeMethod::backward_euler:
      return are_fixed_implicit(parameters) ? 1 : 2;
    case TimeMethod::bdf:
      return time.order + 1;
    case TimeMethod::sdirk:
      return kImplicitStages.at(row);
    case TimeMethod::explicit_rk:
      return kExplicitStages.at(row);
  }
  throw std::logic_error("a method in time without stages");
}

// What methods predict, correct and weigh errors in, and the data of the system.
int other_vectors(const CaseParameters& parameters) {
  // The last stage is kept nowhere; b, x and the load are.
  if (are_fixed_implicit(parameters)) return 2;
  switch (parameters.time->method) {
    case TimeMethod::bdf:
      return 8;
    case TimeMethod::explicit_rk:
      return parameters.time->step ? 6 : 8;
    case TimeMethod::backward_euler:
    case TimeMethod::sdirk:
      break;
  }
  return 12;
}

}  // namespace

int time_vectors(const CaseParameters& parameters) {
  return parameters.time ? stage_vectors(parameters) + other_vectors(parameters) : 0;
}

CaseSizes::CaseSizes(const CaseParameters& parameters_in, const StrategyName& strategy_in)
    : parameters(parameters_in),
      strategy(strategy_in),
      shape(case_shape(parameters)),
      mesh(shape.mesh),
      lattice(shape.lattice),
      operation(operator_bytes(strategy, shape)),
      preconditioner(solves_systems(parameters) ? preconditioner_bytes(parameters)
                                                : OperatorBytes{0, 0}),
      preconditioner_on_host(solves_systems(parameters) ? preconditioner_host_bytes(parameters)
                                                        : OperatorBytes{0, 0}),
      // The analyzer does not see into the constructor of NodeLattice, which sets all fields.
      // NOLINTNEXTLINE(clang-analyzer-optin.cplusplus.UninitializedObject)
      start(full_multigrid_bytes(parameters)) {}

MemoryPart CaseSizes::steps_part() const {
  if (!parameters.time) return {"", 0};
  // Values that move, and what their rates add.
  const int moving = ProblemInTime(parameters).dirichlet_depends_on_time() ? 2 : 0;
  return {"vectors of time steps", vectors(time_vectors(parameters) + moving)};
}

MemoryPart CaseSizes::method_part() const {
  if (!solves_systems(parameters)) return {"", 0};
  const std::string method(name_of(parameters.solver.method));
  return {"vectors of " + method, solver_vectors(tessera::solver_vectors(parameters, strategy))};
}

MemoryPart CaseSizes::form_part() const {
  if (!parameters.time || is_nonlinear(parameters)) return {"operator of the form", 0};
  FormShape of_form = shape;
  of_form.reaction = reaction_kind(typical_field(parameters, parameters.problem.reaction));
  return {"operator of the form", operator_bytes(strategy, of_form).held};
}

MemoryPart CaseSizes::nonlinear_part() const {
  if (!is_nonlinear(parameters)) return {"", 0};
  const Index definite = has_definite_operator(parameters) ? operation.held : Index{0};
  return {fmt::format("vectors and Jacobian of {}", name_of(parameters.nonlinear->method)),
          Saturated(vectors(iteration_vectors())) + drift().held + definite};
}

MemoryPart CaseSizes::state_part() const {
  if (!is_nonlinear(parameters)) return {"", 0};
  return {"state of the forms", vectors(2)};
}

bool CaseSizes::makes_steps_once() const {
  return parameters.time && solves_systems(parameters) && !is_nonlinear(parameters) &&
         !adapts_steps();
}

bool CaseSizes::adapts_steps() const {
  return parameters.time && solves_systems(parameters) && !parameters.time->step;
}

MemoryPart CaseSizes::update_part() const {
  const bool moves = is_nonlinear(parameters) || adapts_steps() ||
                     (parameters.time && ProblemInTime(parameters).step_depends_on_time());
  if (!moves) return {"", 0};
  const OperatorBytes of_drift = drift();
  return {"fields of an update",
          std::max(operation.peak - operation.held, of_drift.peak - of_drift.held)};
}

MassSizes CaseSizes::mass() const {
  const char* const name = "mass matrix";
  if (!parameters.time) return {{name, 0}, {name, 0}};
  // A vector to work with, and of a lumped matrix its diagonal and the inverse of that.
  if (!solves_systems(parameters)) return {{name, vectors(3)}, {name, vectors(3)}};
  FormShape of_mass = shape;
  of_mass.coefficient = CoefficientKind::constant;
  of_mass.reaction = reaction_kind(typical_field(parameters, parameters.problem.capacity));
  of_mass.terms = FormTerms::mass;
  const OperatorBytes bytes = operator_bytes(strategy, of_mass);
  return {{name, Saturated(bytes.held) + vectors(1)}, {name, Saturated(bytes.peak) + vectors(1)}};
}

// In time the GPU has one vector more, of what rates of Dirichlet values add; and with multigrid
// one for the states of coarser levels, which are smaller together.
int CaseSizes::iteration_vectors() const {
  if (!is_on_gpu()) return nonlinear_vectors(parameters);
  const bool has_levels =
      parameters.solver.preconditioner == kMultigrid && case_state(parameters) == StateKind::given;
  return nonlinear_vectors(parameters) + (parameters.time ? 1 : 0) + (has_levels ? 1 : 0);
}

OperatorBytes CaseSizes::drift() const {
  if (!has_drift(parameters)) return {0, 0};
  if (is_on_gpu()) return device_drift_bytes(shape);
  const Index held = Saturated(mesh.cell_count()) * power(shape.points, shape.dimension()) *
                     shape.dimension() * sizeof(double);
  return {held, held};
}

}  // namespace tessera
