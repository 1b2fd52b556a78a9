// These functions start a solve by full multigrid.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cases/problem/poisson_problem.hpp"
#include "mesh/errors.hpp"
#include "operators/multigrid/hierarchy.hpp"
#include "operators/multigrid/level_transfer.hpp"
#include "operators/strategy.hpp"
#include "solvers/preconditioners/full_multigrid.hpp"
#include "solvers/ranks/stop_together.hpp"
#include "src/case/system_scale.hpp"
#include "src/solve/system_vectors.hpp"

namespace tessera {

/// Full multigrid with what there is to say about it.
template <class T, class Space>
struct MadeFullMultigrid {
  FullMultigrid<T, Space> start;
  std::vector<std::string> notes;
};

/// 1 on constrained nodes, 0 elsewhere.
template <class T, class Space>
Vector<T, Space> constrained_nodes(const BilinearForm& form) {
  return extended_by_zero<T, Space>(
      DirichletValues(form, std::vector<ScalarField>(6, constant_field(1.0))), form.layout());
}

/// Makes the system of a level, or says why there is none; the same on all ranks.
inline std::string make_level_system(const PoissonProblem& problem, const BilinearForm& form,
                                     Processor assembles, LinearSystem& system) {
  try {
    system = make_linear_system(problem, form, constant_field(0.0), Imbalance::taken_off, assembles,
                                SolutionPlace::anywhere);
  } catch (const BadFieldValue& error) {
    return error.what();
  }
  return "";
}

/// Full multigrid on a multigrid preconditioner's hierarchy: the problem is discretized on each
/// level, boundary values and load included. It starts on the coarsest level at whose points the
/// data are finite; a load that does not balance by a coarse level's quadrature is balanced.
/// @param finest the operator of the finest level; referred to
/// @param cycles on each level
/// @param scale what b and x of the finest level are divided by
/// @throws as make_operator()
template <class T, class Space>
MadeFullMultigrid<T, Space> make_full_multigrid(const PoissonProblem& problem,
                                                const Hierarchy& hierarchy,
                                                const std::string& scatter,
                                                const LinearOperator<T, Space>& finest, int cycles,
                                                double scale) {
  std::vector<StartLevel<T, Space>> levels;
  std::vector<std::string> notes;
  for (std::size_t l = 0; l < hierarchy.size(); ++l) {
    StartLevel<T, Space> level;
    const BilinearForm& form = hierarchy.form(l);
    level.is_given = constrained_nodes<T, Space>(form);
    if (l == 0) {
      level.a = std::shared_ptr<const LinearOperator<T, Space>>(&finest, [](const void*) {});
    } else {
      stop_together(hierarchy.form(0).layout());
      LinearSystem system;
      const std::string reason = make_level_system(problem, form, kProcessorOf<Space>, system);
      if (!reason.empty()) {
        notes.push_back("full multigrid starts on level " + std::to_string(l - 1) +
                        ", as source or boundary values at a coarser one's points " + reason);
        break;
      }
      divide(system, form, scale);
      level.b = taken_load<T, Space>(system);
      level.given = start_of<T, Space>(system, form.layout());
      const FormShape shape = whole_shape(form, kProcessorOf<Space>, sizeof(T));
      level.a = make_operator<T, Space>(
          choose_strategy(shape, level_scatter(hierarchy, l, scatter)), form);
    }
    if (!levels.empty()) {
      levels.back().from_coarser =
          make_transfer<T, Space>(hierarchy, l - 1, ConstrainedValues::any);
    }
    levels.push_back(std::move(level));
  }
  return {{std::move(levels), cycles}, std::move(notes)};
}

}  // namespace tessera
