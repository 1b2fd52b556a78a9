// These functions make the problems and strategies of a study.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "mesh/discretization.hpp"
#include "operators/strategy.hpp"
#include "src/case/memory/size_limits.hpp"
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
  /// What target_dofs was named for each process; 0: it was named for the whole.
  Index dofs_per_rank = 0;
};

/// Every combination of the study's lists; threads vary fastest, dimensions slowest. Sizes for each
/// process follow those of the whole.
std::vector<StudyProblem> study_problems(const StudyParameters& study);

/// The study's scatter policies, each once; `auto` is the fastest.
std::vector<std::string> study_scatters(const StudyParameters& study);
/// Those of them that the study's processor does not have: they have no rows.
std::vector<std::string> absent_scatters(const StudyParameters& study);

/// The processor of a study.
Processor study_processor(const StudyParameters& study);
/// Its name in messages.
std::string_view processor_text(const StudyParameters& study);

/// The shape of the problem's form.
FormShape study_shape(const StudyParameters& study, const StudyProblem& problem);

/// The strategies of the study on a problem, kernel by kernel: tensor on a mapped mesh with each of
/// the study's storages of the geometric factors, whether it is possible or not.
std::vector<StrategyName> study_strategies(const StudyParameters& study,
                                           const StudyProblem& problem);

/// What the sizes of a study's problem rule out of what is measured on it (size_limits.hpp); keys
/// are the study's.
std::vector<SizeProblem> study_size_problems(const StudyParameters& study,
                                             const StudyProblem& problem);

/// Why solves cannot have the study's first scatter policy, in a user's words; empty if they can,
/// if their kernels take none, or if no solves are measured.
std::string why_no_solver_scatter(const StudyParameters& study);

/// Why solves on some problem have none of the study's kernels, in a user's words; empty if they
/// have one everywhere, or if no solves are measured.
std::string why_no_solver_kernel(const StudyParameters& study);

/// The strategy whose operator the study's solvers work with on a problem: what `auto` takes if it
/// is one of the study's kernels, else the first of these that is for the problem.
StrategyName study_solver_strategy(const StudyParameters& study, const StudyProblem& problem);

/// The unit box with about target_dofs DoFs: cell counts of the axes differ by at most one.
BoxMesh make_study_mesh(const StudyProblem& problem);

/// Space and map of the problem on its mesh or a part of that.
/// @throws InputError, InvertedCell
Discretization make_study_discretization(const StudyParameters& study, const StudyProblem& problem,
                                         const BoxMesh& mesh);

}  // namespace tessera
