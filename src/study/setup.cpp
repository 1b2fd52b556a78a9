// This file makes the problems and strategies of a study.
#include "src/study/setup.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "cases/expression.hpp"
#include "mesh/geometry/natural_frame.hpp"
#include "operators/tensor/geometry_choice.hpp"
#include "solvers/memory/device.hpp"
#include "src/case/fields.hpp"
#include "src/case/strategy_names.hpp"

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

void check_study(const StudyParameters& study, Findings& findings) {
  if (study.device == RunDevice::cuda && !kHasCuda && !findings.has_error("study.device")) {
    findings.report("study.device", "this build computes on the CPU only; allowed: \"cpu\"");
  }
  if (findings.has_error("study.map")) return;
  try {
    map_fields(study);
  } catch (const ExpressionError& error) {
    findings.report("study.map", error.what());
  } catch (const BadExpressionValue& error) {
    findings.report("study.map", error.what());
  }
}

}  // namespace

Registry<StudyParameters> make_study_registry() {
  const StrategyNames names = strategy_names();
  std::vector<std::string> kernels;
  for (const KernelName& kernel : names.kernels) kernels.push_back(kernel.name);
  Registry<StudyParameters> registry = make_study_registry(kernels, names.scatters);
  registry.add_check(check_study);
  return registry;
}

std::vector<StudyProblem> study_problems(const StudyParameters& study) {
  std::vector<StudyProblem> problems;
  for (const int dimension : study.dimensions) {
    for (const StudyGeometry geometry : study.geometry) {
      for (const Index dofs : study.dofs) {
        for (const int degree : study.degrees) {
          for (const Precision precision : study.precision) {
            for (const int threads : study.threads) {
              problems.push_back({dimension, geometry, dofs, degree, precision, threads});
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

OperatorLabel StudyStrategy::label() const {
  if (!geometry) return {name.kernel, name.scatter, std::nullopt};
  return operator_label(name, FactorKind::general, *geometry);
}

std::string StudyStrategy::text() const { return label().text(); }

Processor study_processor(const StudyParameters& study) {
  return study.device == RunDevice::cuda ? Processor::gpu : Processor::cpu;
}

std::vector<StudyStrategy> study_strategies(const StudyParameters& study,
                                            const StudyProblem& problem) {
  const bool is_mapped = problem.geometry == StudyGeometry::mapped;
  GeometrySetting setting{study_processor(study),
                          is_mapped ? FactorKind::general : FactorKind::constant,
                          is_mapped ? NodePositions::stored : NodePositions::implied,
                          problem.dimension,
                          problem.degree,
                          problem.degree + study.extra_points,
                          kNoScatter};
  std::vector<StudyStrategy> strategies;
  const auto add = [&](const StudyStrategy& added) {
    for (const StudyStrategy& strategy : strategies) {
      if (strategy.text() == added.text()) return;
    }
    strategies.push_back(added);
  };
  for (const StrategyName& name : all_strategies(setting.processor)) {
    if (!contains(study.kernels, name.kernel)) continue;
    if (name.scatter != "none" && !contains(study.scatters, name.scatter)) continue;
    if (!has_geometry_forms(name.kernel, setting.factors)) {
      strategies.push_back({name, std::nullopt});
      continue;
    }
    setting.scatter = name.scatter;
    for (const GeometryChoice choice : study.geometry_forms) {
      add({name, form_of(choice).value_or(choose_geometry(setting).form)});
    }
  }
  return strategies;
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
      dofs *= static_cast<double>(cells[d]) * problem.degree + 1.0;
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

Discretization make_study_discretization(const StudyParameters& study,
                                         const StudyProblem& problem) {
  const BoxMesh mesh = make_study_mesh(problem);
  const NodeLattice lattice(mesh, problem.degree);
  Basis1D basis = make_basis(problem.degree, NodeFamily::gauss_lobatto, study.quadrature,
                             problem.degree + study.extra_points);
  Mapping mapping = problem.geometry == StudyGeometry::uniform
                        ? Mapping(mesh, lattice, basis.nodes)
                        : Mapping(mesh, lattice, basis.nodes, map_fields(study));
  Discretization physical{mesh, std::move(basis), lattice, std::move(mapping)};
  check_digits(physical);
  const Frame frame = natural_frame(physical);
  return to_frame(std::move(physical), frame);
}

}  // namespace tessera
