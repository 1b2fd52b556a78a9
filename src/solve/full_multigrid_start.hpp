// These functions start a solve by full multigrid.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cases/problem/poisson_problem.hpp"
#include "mesh/errors.hpp"
#include "operators/form/constrained_rows.hpp"
#include "operators/load/load_vector.hpp"
#include "operators/multigrid/hierarchy.hpp"
#include "operators/multigrid/level_transfer.hpp"
#include "operators/strategy.hpp"
#include "solvers/preconditioners/full_multigrid.hpp"
#include "solvers/ranks/stop_together.hpp"
#include "src/case/system_scale.hpp"
#include "src/solve/vector_conversion.hpp"

namespace tessera {

/// Full multigrid with what there is to say about it.
template <class T, class Space>
struct MadeFullMultigrid {
  FullMultigrid<T, Space> start;
  std::vector<std::string> notes;
};

/// 1 on constrained nodes, 0 elsewhere.
inline HostVector<double> constrained_nodes(const BilinearForm& form) {
  HostVector<double> constrained(form.layout());
  for_each_face_node(form.discretization->lattice, form.dirichlet,
                     [&](Index node) { constrained[node] = 1.0; });
  return constrained;
}

/// Makes the system of a level, or says why there is none; the same on all ranks.
inline std::string make_level_system(const PoissonProblem& problem, const Hierarchy& hierarchy,
                                     std::size_t l, LinearSystem& system) {
  const BilinearForm& form = hierarchy.form(l);
  try {
    system = make_linear_system(problem, form, constant_field(0.0), Imbalance::taken_off);
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
    level.is_given = converted<T, Space>(constrained_nodes(form));
    if (l == 0) {
      level.a = std::shared_ptr<const LinearOperator<T, Space>>(&finest, [](const void*) {});
    } else {
      stop_together(hierarchy.form(0).layout());
      LinearSystem system;
      const std::string reason = make_level_system(problem, hierarchy, l, system);
      if (!reason.empty()) {
        notes.push_back("full multigrid starts on level " + std::to_string(l - 1) +
                        ", as source or boundary values at a coarser one's points " + reason);
        break;
      }
      divide(system, form, scale);
      level.b = converted<T, Space>(system.b);
      level.given = converted<T, Space>(system.x);
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
