#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cases/poisson_problem.hpp"
#include "operators/constrained_rows.hpp"
#include "operators/device_strategy.hpp"
#include "operators/hierarchy.hpp"
#include "operators/lattice_transfer.hpp"
#include "solvers/full_multigrid.hpp"
#include "solvers/interruption.hpp"
#include "src/system_scale.hpp"
#include "src/vector_conversion.hpp"

namespace tessera {

/// Full multigrid on a multigrid preconditioner's hierarchy: the problem is discretized on each
/// level, boundary values and load included.
/// @param finest the operator of the finest level; referred to
/// @param cycles on each level
/// @param scale what b and x of the finest level are divided by
/// @throws as make_linear_system() and make_operator()
template <class T, class Space>
FullMultigrid<T, Space> make_full_multigrid(const PoissonProblem& problem,
                                            const Hierarchy& hierarchy, const std::string& scatter,
                                            const LinearOperator<T, Space>& finest, int cycles,
                                            double scale) {
  std::vector<StartLevel<T, Space>> levels;
  for (std::size_t l = 0; l < hierarchy.size(); ++l) {
    stop_if_requested();
    StartLevel<T, Space> level;
    StiffnessForm form = hierarchy.form(l);
    const Discretization& discretization = *form.discretization;
    HostVector<double> constrained(discretization.lattice.size());
    for_each_face_node(discretization.lattice, form.dirichlet,
                       [&](Index node) { constrained[node] = 1.0; });
    level.is_given = converted<T, Space>(constrained);
    if (l == 0) {
      level.a = std::shared_ptr<const LinearOperator<T, Space>>(&finest, [](const void*) {});
    } else {
      if constexpr (std::is_same_v<Space, Host>) {
        const StrategyName strategy = level_strategy(form, scatter, Processor::cpu);
        level.a = make_operator<T>(strategy, form);
      } else {
        const StrategyName strategy = level_strategy(form, scatter, Processor::gpu);
        level.a = make_device_operator<T>(strategy, form);
      }
      LinearSystem system = make_linear_system(problem, discretization, constant_field(0.0));
      divide(system, form, scale);
      level.b = converted<T, Space>(system.b);
      level.given = converted<T, Space>(system.x);
    }
    if (l + 1 < hierarchy.size()) {
      level.from_coarser = std::make_unique<LatticeTransfer<T, Space>>(
          make_prolongation(*hierarchy.form(l + 1).discretization, discretization, FaceSet{}));
    }
    levels.push_back(std::move(level));
  }
  return {std::move(levels), cycles};
}

}  // namespace tessera
