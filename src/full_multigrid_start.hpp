#pragma once

#include <memory>
#include <vector>

#include "cases/poisson_problem.hpp"
#include "operators/constrained_rows.hpp"
#include "operators/device_strategy.hpp"
#include "operators/hierarchy.hpp"
#include "operators/lattice_transfer.hpp"
#include "solvers/full_multigrid.hpp"
#include "src/preconditioning.hpp"
#include "src/vector_conversion.hpp"

namespace tessera {

/// x by full multigrid on the preconditioner's hierarchy: the problem is discretized on each level,
/// boundary values and load included, and solved from the coarsest up.
/// @param made a multigrid preconditioner
/// @param finest, b operator and load of the finest level
/// @param cycles on each level
/// @param x with the Dirichlet values of the finest level
/// @throws as make_linear_system() and make_operator()
template <class T, class Space>
void start_by_full_multigrid(const PoissonProblem& problem,
                             const MadePreconditioner<T, Space>& made, const std::string& scatter,
                             const LinearOperator<T, Space>& finest, const Vector<T, Space>& b,
                             int cycles, Vector<T, Space>& x) {
  using V = Vector<T, Space>;
  struct OfLevel {
    std::unique_ptr<LinearOperator<T, Space>> a;
    V b;
    V given;
    V is_given;
    std::unique_ptr<Transfer<T, Space>> from_coarser;
  };
  const Hierarchy& hierarchy = *made.hierarchy;
  std::vector<OfLevel> held(hierarchy.size());
  std::vector<StartLevel<T, Space>> levels;
  for (std::size_t l = 0; l < hierarchy.size(); ++l) {
    OfLevel& level = held[l];
    StiffnessForm form = hierarchy.form(l);
    const Discretization& discretization = *form.discretization;
    HostVector<double> constrained(discretization.lattice.size());
    for_each_face_node(discretization.lattice, form.dirichlet,
                       [&](Index node) { constrained[node] = 1.0; });
    level.is_given = converted<T, Space>(constrained);
    if (l > 0) {
      if constexpr (std::is_same_v<Space, Host>) {
        const StrategyName strategy = level_strategy(form, scatter, Processor::cpu);
        level.a = make_operator<T>(strategy, form);
      } else {
        const StrategyName strategy = level_strategy(form, scatter, Processor::gpu);
        level.a = make_device_operator<T>(strategy, form);
      }
      const LinearSystem system = make_linear_system(problem, discretization, constant_field(0.0));
      level.b = converted<T, Space>(system.b);
      level.given = converted<T, Space>(system.x);
    }
    if (l + 1 < hierarchy.size()) {
      level.from_coarser = std::make_unique<LatticeTransfer<T, Space>>(
          make_prolongation(*hierarchy.form(l + 1).discretization, discretization, FaceSet{}));
    }
    levels.push_back({l == 0 ? &finest : level.a.get(), l == 0 ? &b : &level.b,
                      l == 0 ? &x : &level.given, &level.is_given, level.from_coarser.get()});
  }
  full_multigrid(levels, made.cycle, cycles, x);
}

}  // namespace tessera
