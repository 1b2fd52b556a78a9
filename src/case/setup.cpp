// This file turns the parameters of a case into mesh, space and problem.
#include "src/case/setup.hpp"

#include <fmt/format.h>

#include <string>

#include "cases/expression/expression.hpp"
#include "mesh/coarsening.hpp"
#include "mesh/errors.hpp"
#include "mesh/geometry/natural_frame.hpp"
#include "operators/cells/fields/device_map.hpp"
#include "operators/cells/scatter.hpp"
#include "operators/form/on_all_ranks.hpp"
#include "operators/strategy.hpp"
#include "solvers/errors.hpp"
#include "solvers/memory/device.hpp"
#include "src/case/choices.hpp"
#include "src/case/fields.hpp"
#include "src/case/memory/size_limits.hpp"
#include "src/case/nonlinear/nonlinear_case.hpp"
#include "src/case/ranks/rank_partition.hpp"
#include "src/case/shape.hpp"
#include "src/case/strategy.hpp"
#include "src/case/strategy_names.hpp"
#include "src/case/time/problem_in_time.hpp"
#include "src/case/time/time_case.hpp"
#include "src/parameters/case_checks.hpp"
#include "src/solve/preconditioner_table.hpp"

namespace tessera {
namespace {

// Maps are functions of the box point; in 2D of x and y only.
std::array<ScalarField, 3> map_fields(const CaseParameters& parameters) {
  std::array<ScalarField, 3> fields;
  for (std::size_t d = 0; d < parameters.mesh.map.size(); ++d) {
    fields[d] = make_case_field("mesh.map", parameters.mesh.map[d], parameters.mesh.dimension,
                                Requirement::finite);
  }
  return fields;
}

void try_field(const std::string& key, Findings& findings, const std::function<void()>& make) {
  if (findings.has_error(key)) return;
  try {
    make();
  } catch (const ExpressionError& error) {
    findings.report(key, error.what());
  } catch (const BadExpressionValue& error) {
    findings.report(key, error.what());
  }
}

void try_expression(const std::string& key, const std::string& text, int dimension,
                    Requirement requirement, Findings& findings) {
  try_field(key, findings, [&] { make_case_field(key, text, dimension, requirement); });
}

// An expression in x, y, z and, with [time], t.
void try_in_time(const std::string& key, const std::string& text, const CaseParameters& parameters,
                 Requirement requirement, Findings& findings) {
  try_field(key, findings, [&] {
    const CaseTimeField field(key, text, parameters.mesh.dimension, requirement,
                              case_variables(key, parameters));
    field.at(parameters.time ? parameters.time->start : 0.0);
  });
}

void check_expressions(const CaseParameters& parameters, Findings& findings) {
  if (findings.has_error("mesh.dimension")) return;
  const int dimension = parameters.mesh.dimension;
  for (const std::string& component : parameters.mesh.map) {
    try_expression("mesh.map", component, dimension, Requirement::finite, findings);
  }
  const ProblemParameters& problem = parameters.problem;
  try_in_time("problem.coefficient", problem.coefficient, parameters, Requirement::positive,
              findings);
  try_in_time("problem.reaction", problem.reaction, parameters, Requirement::non_negative,
              findings);
  try_in_time("problem.capacity", problem.capacity, parameters, Requirement::positive, findings);
  try_in_time("problem.source", problem.source, parameters, Requirement::finite, findings);
  if (problem.exact) {
    try_in_time("problem.exact", *problem.exact, parameters, Requirement::finite, findings);
  }
  if (parameters.time) {
    try_expression("time.initial", parameters.time->initial, dimension, Requirement::finite,
                   findings);
  }
  if (parameters.solver.initial != kFullMultigrid) {
    try_expression("solver.initial", parameters.solver.initial, dimension, Requirement::finite,
                   findings);
  }
  for (int face = 0; face < face_count(dimension); ++face) {
    const BoundaryParameters& condition = parameters.boundary[face];
    const std::string key = fmt::format("boundary.{}", kFaceNames[face]);
    try_in_time(key + ".value", condition.value, parameters, Requirement::finite, findings);
    if (condition.type == BoundaryType::robin && condition.alpha) {
      try_in_time(key + ".alpha", *condition.alpha, parameters, Requirement::non_negative,
                  findings);
    }
  }
}

// The checks that depend on what stands for `auto`, as a run will take it.
void check_choices(CaseParameters& parameters, Findings& findings) {
  if (!findings.has_error("run.device") && parameters.run.device == RunDevice::cuda && !kHasCuda) {
    findings.report("run.device",
                    "this build computes on the CPU only; allowed: \"auto\", \"cpu\"");
  }
  CaseParameters resolved = parameters;
  // Whether the case fits into the GPU's memory can be asked of a case without errors only.
  std::optional<ChosenValue> device;
  if (!kHasCuda || findings.diagnostics().empty()) device = resolve_device(resolved);
  if (resolved.run.device == RunDevice::automatic) return;
  check_processor(resolved, device ? device->reason : "", findings);
  check_deterministic(resolved, findings);
  check_kernel(resolved, findings);
  check_factors(resolved, findings);
  parameters.operation.factors = resolved.operation.factors;
  if (findings.diagnostics().empty()) {
    resolve_choices(resolved);
    if (parameters.solver.preconditioner == kAuto) {
      check_solver(resolved, preconditioner_names(), findings);
    }
    if (parameters.nonlinear) check_asynchronous(resolved, preconditioner_names(), findings);
  }
  check_sizes(resolved, findings);
  check_scatter_of_factors(resolved, findings);
}

const char* key_of(Choice choice) {
  switch (choice) {
    case Choice::kernel:
      return "operator.kernel";
    case Choice::factors:
      return "operator.factors";
    case Choice::preconditioner:
      return "solver.preconditioner";
    case Choice::time_step:
      return "time.step";
  }
  return "";
}

// On the case's box mesh, or on a part of it.
Discretization make_discretization_on(const BoxMesh& mesh, const CaseParameters& parameters) {
  const SpaceParameters& space = parameters.space;
  const NodeLattice lattice(mesh, space.degree);
  Basis1D basis = make_basis(space.degree, space.nodes, space.quadrature, space.points);
  Mapping mapping = parameters.mesh.map.empty()
                        ? Mapping(mesh, lattice, basis.nodes)
                        : Mapping(mesh, lattice, basis.nodes, map_fields(parameters));
  return {mesh, std::move(basis), lattice, std::move(mapping)};
}

// Those of the whole. @param part null if the discretization is the whole
Intervals intervals_of_all(const Discretization& physical, const RankPart* part) {
  Intervals intervals = node_intervals(physical);
  if (part == nullptr) return intervals;
  for (Interval& interval : intervals) {
    part->ranks().min({&interval.low, 1});
    part->ranks().max({&interval.high, 1});
  }
  return intervals;
}

}  // namespace

Registry<CaseParameters> make_case_registry() {
  const StrategyNames names = strategy_names();
  Registry<CaseParameters> registry =
      make_case_registry(names.kernels, names.scatters, preconditioner_names());
  registry.add_check([](CaseParameters& parameters, Findings& findings) {
    check_expressions(parameters, findings);
    check_nonlinear_method(parameters, findings);
    check_nonlinear_preconditioner(parameters, findings);
    check_choices(parameters, findings);
  });
  return registry;
}

std::string repeatable_text(CaseParameters parameters) {
  parameters.output.overwrite = false;
  // What follows from another value is left to that, for which others may be asked.
  if (parameters.space.points == parameters.space.degree + 1) parameters.space.points = 0;
  if (parameters.time && parameters.time->absolute_tolerance == parameters.time->tolerance) {
    parameters.time->absolute_tolerance.reset();
  }
  return make_case_registry().to_toml(parameters);
}

BoxMesh make_box_mesh(const CaseParameters& parameters) {
  IndexTriple cells{1, 1, 1};
  Point lower{0.0, 0.0, 0.0};
  Point upper{0.0, 0.0, 0.0};
  std::array<GridLines, 3> lines;
  for (int d = 0; d < parameters.mesh.dimension; ++d) {
    cells[d] = parameters.mesh.cells[d];
    lower[d] = parameters.mesh.lower[d];
    upper[d] = parameters.mesh.upper[d];
    lines[d] = grid_lines(parameters.mesh.spacing[d], lower[d], upper[d], cells[d]);
  }
  return {parameters.mesh.dimension, cells, lower, upper, std::move(lines)};
}

Point case_cell_widths(const CaseParameters& parameters) {
  const BoxMesh mesh = make_box_mesh(parameters);
  return parameters.mesh.map.empty() ? mean_cell_widths(mesh)
                                     : mean_cell_widths(mesh, map_fields(parameters));
}

Discretization make_discretization(const CaseParameters& parameters) {
  Discretization discretization = make_discretization_on(make_box_mesh(parameters), parameters);
  check_digits(discretization);
  return discretization;
}

bool makes_positions_on_gpu(const CaseParameters& parameters) {
  return case_processor(parameters) == Processor::gpu && !parameters.mesh.map.empty() &&
         is_map_for_gpu(map_fields(parameters), parameters.mesh.dimension);
}

Discretization make_framed_discretization(const CaseParameters& parameters, Processor makes,
                                          const RankPart* part) {
  const auto mesh = [&] { return part == nullptr ? make_box_mesh(parameters) : part->mesh(); };
  if constexpr (kHasCuda) {
    if (makes == Processor::gpu && !parameters.mesh.map.empty()) {
      const SpaceParameters& space = parameters.space;
      auto made = make_mapped_on_device(
          mesh(), make_basis(space.degree, space.nodes, space.quadrature, space.points),
          map_fields(parameters), part == nullptr ? single_rank() : part->ranks());
      if (made) return std::move(*made);
    }
  }
  return in_natural_frame(part, [&] { return make_discretization_on(mesh(), parameters); });
}

Discretization in_natural_frame(const RankPart* part, const std::function<Discretization()>& make) {
  Discretization physical = on_all_ranks(part, make);
  const Intervals intervals = intervals_of_all(physical, part);
  on_all_ranks(part, [&] { check_digits(physical, intervals); });
  const int dimension = physical.mesh.dimension();
  return to_frame(std::move(physical), natural_frame(intervals, dimension));
}

PoissonProblem make_problem(const CaseParameters& parameters) {
  return ProblemInTime(parameters).at(typical_time(parameters));
}

std::optional<ScalarField> make_exact(const CaseParameters& parameters, double t) {
  if (!parameters.problem.exact) return std::nullopt;
  return CaseTimeField("problem.exact", *parameters.problem.exact, parameters.mesh.dimension,
                       Requirement::finite)
      .at(t);
}

ScalarField make_initial(const CaseParameters& parameters) {
  if (parameters.time) {
    return make_case_field("time.initial", parameters.time->initial, parameters.mesh.dimension,
                           Requirement::finite);
  }
  if (parameters.solver.initial == kFullMultigrid) return constant_field(0.0);
  return make_case_field("solver.initial", parameters.solver.initial, parameters.mesh.dimension,
                         Requirement::finite);
}

void with_case_errors(const LoadedCase& loaded, const std::function<void()>& work) {
  const auto fail = [&](std::string_view key, const std::string& message) {
    throw InputError({loaded.findings.diagnostic(key, message)});
  };
  try {
    work();
  } catch (const InvertedCell& error) {
    fail("mesh.map", error.what());
  } catch (const LostDigits& error) {
    fail("mesh.map", error.what());
  } catch (const BadFieldValue& error) {
    if (!error.key().empty()) fail(error.key(), error.what());
    // The expression's values are allowed, or had been named: their scale is not.
    fail("problem", fmt::format("{}: a number leaves the range of double precision in units in "
                                "which the box and the coefficient are of order 1",
                                error.what()));
  } catch (const UndeterminedSolution& error) {
    fail(error.key(), error.what());
  } catch (const UnsuitableRanks& error) {
    fail(error.key(), error.what());
  } catch (const IncompatibleData& error) {
    fail("problem.source", error.what());
  } catch (const UnsuitableChoice& error) {
    fail(key_of(error.choice()), error.what());
  } catch (const NoDevice& error) {
    // No mistake in the case, but the key says how to do without.
    throw NoDevice(format_diagnostic(loaded.findings.diagnostic("run.device", error.what())));
  } catch (const NumericalBreakdown& error) {
    fail(key_of(Choice::preconditioner),
         fmt::format("{}: numbers overflow, vanish or lose all digits in what it is made of; try "
                     "operator and solver.multigrid.precision = \"double\", other units, or "
                     "\"none\"",
                     error.what()));
  }
}

}  // namespace tessera
