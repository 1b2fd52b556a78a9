// This file makes the problems and strategies of a study.
#include "src/study/setup.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <stdexcept>
#include <utility>

#include "cases/expression/expression.hpp"
#include "mesh/saturated.hpp"
#include "operators/cells/scatter.hpp"
#include "operators/tensor/factor_choice.hpp"
#include "solvers/memory/device.hpp"
#include "src/case/fields.hpp"
#include "src/case/shape.hpp"
#include "src/case/strategy.hpp"
#include "src/case/strategy_names.hpp"
#include "src/parameters/limits.hpp"
#include "src/parameters/names.hpp"
#include "src/solve/preconditioner_table.hpp"
#include "src/study/solver_measurement.hpp"

namespace tessera {
namespace {

// In 2D the map's text may use z, which is 0: every expression is parsed as one of three variables.
std::array<ScalarField, 3> map_fields(const StudyParameters& study) {
  std::array<ScalarField, 3> fields;
  for (std::size_t d = 0; d < 3; ++d) {
    fields[d] = make_case_field("study.map", study.map[d], 3, Requirement::finite);
  }
  return fields;
}

template <class T>
bool contains(const std::vector<T>& values, const T& value) {
  return std::find(values.begin(), values.end(), value) != values.end();
}

// Where a study says what a key of a case does.
std::string_view study_key(std::string_view case_key) {
  if (case_key == "mesh.cells") return "study.dofs";
  if (case_key == "operator.factors") return "study.factors";
  if (case_key == "operator.kernel") return "study.kernels";
  if (case_key == "solver.preconditioner") return "study.solvers";
  if (case_key == "solver.multigrid.smoother") return case_key;
  throw std::logic_error("a limit of sizes whose key studies do not have");
}

// The case that measures a strategy, as far as sizes are concerned.
CaseParameters operator_case(const StudyParameters& study, const StudyProblem& problem,
                             const StrategyName& strategy) {
  CaseParameters parameters = solver_case(study, problem, kNoPreconditioner);
  set_strategy(parameters, strategy);
  return parameters;
}

// Why the strategy is not for forms of the shape, in a user's words; empty if it is.
std::string why_not_for(const StrategyName& strategy, const FormShape& shape) {
  const std::string unavailable = why_unavailable(strategy, shape.processor);
  return unavailable.empty() ? why_unsuitable(strategy, shape) : unavailable;
}

// Each problem's once, however many threads, precisions and policies are measured on it.
void check_study_sizes(const StudyParameters& study, Findings& findings) {
  std::set<std::pair<std::string, std::string>> said;
  for (const StudyProblem& problem : study_problems(study)) {
    for (const SizeProblem& found : study_size_problems(study, problem)) {
      if (said.emplace(found.key, found.limit).second) findings.report(found.key, found.message());
    }
  }
}

bool names_all_kernels(const StudyParameters& study) {
  const std::vector<KernelName> all = strategy_names().kernels;
  return std::all_of(all.begin(), all.end(), [&](const KernelName& kernel) {
    return contains(study.kernels, kernel.name);
  });
}

// Names of kernels that the processor does not have would be passed over, as they are where all
// are named: `tessera defaults --study` writes them.
void check_processor(const StudyParameters& study, Findings& findings) {
  if (!findings.is_written("study.kernels") || names_all_kernels(study)) return;
  const Processor processor = study_processor(study);
  for (const std::string& kernel : study.kernels) {
    if (find_kernel(kernel)->runs_on(processor)) continue;
    findings.report("study.kernels",
                    fmt::format("\"{}\" does not run on the {} (study.device = \"{}\")", kernel,
                                processor_text(study), name_of(study.device)));
    return;
  }
}

// Where there is no policy left for a kernel that takes one, it would be passed over.
void check_scatters(const StudyParameters& study, Findings& findings) {
  if (!study.solvers.empty()) return;
  const auto takes_one = [](const std::string& kernel) {
    return find_kernel(kernel)->scatter == TakesScatter::yes;
  };
  const auto kernel = std::find_if(study.kernels.begin(), study.kernels.end(), takes_one);
  if (kernel == study.kernels.end() || !findings.is_written("study.scatters")) return;
  if (absent_scatters(study).size() < study_scatters(study).size()) return;
  findings.report("study.scatters",
                  fmt::format("has none for the {} (study.device = \"{}\"), and \"{}\" needs one",
                              processor_text(study), name_of(study.device), *kernel));
}

void check_tolerance(const StudyParameters& study, Findings& findings) {
  if (study.solvers.empty() || study.solver.relative_tolerance >= kMinSingleTolerance ||
      !contains(study.precision, Precision::single_precision)) {
    return;
  }
  findings.report("solver.relative_tolerance",
                  fmt::format("is {}, and must be at least {} where study.precision has "
                              "\"single\"",
                              number_text(study.solver.relative_tolerance), kMinSingleTolerance));
}

void check_study(const StudyParameters& study, Findings& findings) {
  if (study.device == RunDevice::cuda && !kHasCuda && !findings.has_error("study.device")) {
    findings.report("study.device", "this build computes on the CPU only; allowed: \"cpu\"");
  }
  if (!findings.has_error("study.map")) {
    try {
      map_fields(study);
    } catch (const ExpressionError& error) {
      findings.report("study.map", error.what());
    } catch (const BadExpressionValue& error) {
      findings.report("study.map", error.what());
    }
  }
  // The rest looks at many keys at once.
  if (!findings.diagnostics().empty()) return;
  check_processor(study, findings);
  check_scatters(study, findings);
  if (!findings.diagnostics().empty()) return;
  const std::string no_scatter = why_no_solver_scatter(study);
  if (!no_scatter.empty()) {
    findings.report("study.scatters", no_scatter);
    return;
  }
  const std::string no_kernel = why_no_solver_kernel(study);
  if (!no_kernel.empty()) {
    findings.report("study.kernels", no_kernel);
    return;
  }
  check_study_sizes(study, findings);
  if (findings.diagnostics().empty()) check_tolerance(study, findings);
}

}  // namespace

Registry<StudyParameters> make_study_registry() {
  const StrategyNames names = strategy_names();
  Registry<StudyParameters> registry =
      make_study_registry(names.kernels, names.scatters, preconditioner_names());
  registry.add_check(check_study);
  return registry;
}

namespace {

// Of the whole, and of each process where it was named so.
std::vector<std::pair<Index, Index>> study_sizes(const StudyParameters& study) {
  std::vector<std::pair<Index, Index>> sizes;
  for (const Index dofs : study.dofs) sizes.emplace_back(dofs, 0);
  for (const Index dofs : study.dofs_per_rank) {
    sizes.emplace_back(Saturated(dofs) * study.processes, dofs);
  }
  return sizes;
}

}  // namespace

std::vector<StudyProblem> study_problems(const StudyParameters& study) {
  std::vector<StudyProblem> problems;
  for (const int dimension : study.dimensions) {
    for (const StudyGeometry geometry : study.geometry) {
      for (const auto& [dofs, dofs_per_rank] : study_sizes(study)) {
        for (const int degree : study.degrees) {
          for (const Precision precision : study.precision) {
            for (const int threads : study.threads) {
              problems.push_back(
                  {dimension, geometry, dofs, degree, precision, threads, dofs_per_rank});
              // The GPU has no use for them: all of the host's make the problem.
              if (study.device == RunDevice::cuda) break;
            }
          }
        }
      }
    }
  }
  return problems;
}

std::vector<SizeProblem> study_size_problems(const StudyParameters& study,
                                             const StudyProblem& problem) {
  std::vector<SizeProblem> problems;
  const auto add = [&](const CaseParameters& parameters) {
    for (const SizeProblem& found : size_problems(parameters)) {
      problems.push_back(
          {std::string(study_key(found.key)),
           fmt::format("{}D {}, degree {}, about {} DoFs: {}", problem.dimension,
                       name_of(problem.geometry), problem.degree, problem.target_dofs, found.limit),
           "leave it out, or aim at fewer DoFs"});
    }
  };
  for (const std::string& solver : study.solvers) add(solver_case(study, problem, solver));
  if (!study.solvers.empty()) return problems;
  const FormShape shape = study_shape(study, problem);
  for (const StrategyName& strategy : study_strategies(study, problem)) {
    // What is not for the problem is left out of the table, whatever its size.
    if (why_unsuitable(strategy, shape).empty()) add(operator_case(study, problem, strategy));
  }
  return problems;
}

std::string why_no_solver_scatter(const StudyParameters& study) {
  if (study.solvers.empty()) return "";
  const std::string scatter = study_scatters(study).front();
  const std::string advice = fmt::format(
      "; solves with cells that add take the first policy named: put \"{}\" first", kAuto);
  for (const StudyProblem& problem : study_problems(study)) {
    const StrategyName strategy = study_solver_strategy(study, problem);
    if (strategy.scatter == kNoScatterName) continue;
    const ScatterInfo* const info = find_scatter(scatter);
    if (info != nullptr && info->use == ScatterUse::comparison) {
      return fmt::format("\"{}\" gives wrong results and is for applications only{}", scatter,
                         advice);
    }
    const std::string reason = why_not_for(strategy, study_shape(study, problem));
    if (!reason.empty()) return reason + advice;
  }
  return "";
}

std::vector<std::string> study_scatters(const StudyParameters& study) {
  std::vector<std::string> scatters;
  for (std::string scatter : study.scatters) {
    if (scatter == kAuto) {
      scatter = choose_scatter("tensor", study_processor(study), Deterministic::no).scatter;
    }
    if (!contains(scatters, scatter)) scatters.push_back(std::move(scatter));
  }
  return scatters;
}

std::vector<std::string> absent_scatters(const StudyParameters& study) {
  std::vector<std::string> absent = study_scatters(study);
  std::erase_if(absent, [&](const std::string& name) {
    const ScatterInfo* const info = find_scatter(name);
    return info != nullptr && info->runs_on(study_processor(study));
  });
  return absent;
}

Processor study_processor(const StudyParameters& study) {
  return study.device == RunDevice::cuda ? Processor::gpu : Processor::cpu;
}

std::string_view processor_text(const StudyParameters& study) {
  return study_processor(study) == Processor::gpu ? "GPU" : "CPU";
}

FormShape study_shape(const StudyParameters& study, const StudyProblem& problem) {
  const BoxMesh mesh = make_study_mesh(problem);
  return {study_processor(study),
          value_bytes(problem.precision),
          mesh,
          NodeLattice(mesh, problem.degree),
          problem.degree + study.extra_points,
          problem.geometry == StudyGeometry::mapped ? MeshKind::mapped : MeshKind::uniform,
          CoefficientKind::constant,
          FaceSet{}};
}

std::vector<StrategyName> study_strategies(const StudyParameters& study,
                                           const StudyProblem& problem) {
  const FormShape shape = study_shape(study, problem);
  const std::vector<std::string> scatters = study_scatters(study);
  std::vector<StrategyName> strategies;
  for (const StrategyName& name : all_strategies(shape.processor)) {
    if (!contains(study.kernels, name.kernel)) continue;
    if (name.scatter != kNoScatterName && !contains(scatters, name.scatter)) continue;
    if (!has_factor_storages(name.kernel, shape)) {
      strategies.push_back(name);
      continue;
    }
    std::vector<FactorStorage> storages;
    for (const FactorsChoice choice : study.factors) {
      const FactorStorage storage =
          storage_of(choice).value_or(choose_factors(name.scatter, shape).storage);
      if (contains(storages, storage)) continue;
      storages.push_back(storage);
      strategies.push_back({name.kernel, name.scatter, storage});
    }
  }
  return strategies;
}

StrategyName study_solver_strategy(const StudyParameters& study, const StudyProblem& problem) {
  const FormShape shape = study_shape(study, problem);
  const std::string scatter = study_scatters(study).front();
  StrategyName chosen = choose_strategy(shape, scatter);
  if (contains(study.kernels, chosen.kernel)) return chosen;
  for (const std::string& kernel : study.kernels) {
    const StrategyName named = with_scatter(kernel, scatter);
    if (why_not_for(named, shape).empty()) return with_chosen_factors(named, shape);
  }
  return chosen;
}

std::string why_no_solver_kernel(const StudyParameters& study) {
  if (study.solvers.empty()) return "";
  const std::string scatter = study_scatters(study).front();
  for (const StudyProblem& problem : study_problems(study)) {
    if (contains(study.kernels, study_solver_strategy(study, problem).kernel)) continue;
    const StrategyName first = with_scatter(study.kernels.front(), scatter);
    return fmt::format("solves in {}D {}, degree {}, need one that is for them: {}",
                       problem.dimension, name_of(problem.geometry), problem.degree,
                       why_not_for(first, study_shape(study, problem)));
  }
  return "";
}

BoxMesh make_study_mesh(const StudyProblem& problem) {
  const int dimension = problem.dimension;
  const double target = static_cast<double>(problem.target_dofs);
  const double nodes = std::pow(target, 1.0 / dimension);
  const Index least = std::max<Index>(static_cast<Index>((nodes - 1.0) / problem.degree), 1);
  IndexTriple best{least, least, dimension == 3 ? least : 1};
  const auto miss = [&](const IndexTriple& cells) {
    double dofs = 1.0;
    for (int d = 0; d < dimension; ++d) {
      dofs *= nodes_along(static_cast<double>(cells[d]), problem.degree);
    }
    return std::abs(dofs - target);
  };
  IndexTriple larger = best;
  for (int d = dimension - 1; d >= 0; --d) {
    ++larger[d];
    if (miss(larger) < miss(best)) best = larger;
  }
  return {dimension, best, {0.0, 0.0, 0.0}, {1.0, 1.0, dimension == 3 ? 1.0 : 0.0}};
}

Discretization make_study_discretization(const StudyParameters& study, const StudyProblem& problem,
                                         const BoxMesh& mesh) {
  const NodeLattice lattice(mesh, problem.degree);
  Basis1D basis = make_basis(problem.degree, NodeFamily::gauss_lobatto, study.quadrature,
                             problem.degree + study.extra_points);
  Mapping mapping = problem.geometry == StudyGeometry::uniform
                        ? Mapping(mesh, lattice, basis.nodes)
                        : Mapping(mesh, lattice, basis.nodes, map_fields(study));
  return {mesh, std::move(basis), lattice, std::move(mapping)};
}

}  // namespace tessera
