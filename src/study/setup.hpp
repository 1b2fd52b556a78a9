// These functions make the problems and strategies of a study.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "mesh/discretization.hpp"
#include "operators/strategy.hpp"
#include "src/parameters/study_parameters.hpp"

namespace tessera {

/// The keys of study files, for the strategies that there are; the map is parsed as part of the
/// checks.
Registry<StudyParameters> make_study_registry();

/// One problem of a study: the strategies are measured side by side on it.
struct StudyProblem {
  int dimension;
  StudyGeometry geometry;
  Index target_dofs;
  int degree;
  Precision precision;
  int threads;
};

/// Every combination of the study's lists; threads vary fastest, dimensions slowest.
std::vector<StudyProblem> study_problems(const StudyParameters& study);

/// A strategy as it is measured on a problem.
struct StudyStrategy {
  StrategyName name;
  /// Of the geometric factors; nothing where that means nothing.
  std::optional<GeometryForm> geometry;

  /// What its operators are called: by the name() of what is made.
  OperatorLabel label() const;
  /// The same as one text: "tensor/coloring", "tensor/coloring, stored", "tensor, stencil".
  std::string text() const;
};

/// The processor of a study.
Processor study_processor(const StudyParameters& study);

/// The strategies of the study on a problem, kernel by kernel: tensor on a mapped mesh with each of
/// the study's forms of the geometric factors, whether it is possible or not, but none twice by its
/// label: a stencil is the same for every scatter policy.
std::vector<StudyStrategy> study_strategies(const StudyParameters& study,
                                            const StudyProblem& problem);

/// The unit box with about target_dofs DoFs: cell counts of the axes differ by at most one.
BoxMesh make_study_mesh(const StudyProblem& problem);

/// Mesh, space and map of the problem, in its natural frame.
/// @throws InputError, InvertedCell, LostDigits
Discretization make_study_discretization(const StudyParameters& study, const StudyProblem& problem);

}  // namespace tessera
