// This file makes preconditioners on the host.
#include "src/solve/preconditioning.hpp"

#include "src/case/strategy.hpp"

namespace tessera {

namespace {

CoarseningOrder coarsening_order(const CaseParameters& parameters) {
  constexpr int kMaxForCells = 4;
  switch (parameters.solver.multigrid.coarsening) {
    case CoarseningChoice::degree_first:
      return CoarseningOrder::degree_first;
    case CoarseningChoice::cells_first:
      return CoarseningOrder::cells_first;
    case CoarseningChoice::automatic:
      break;
  }
  const bool starts = parameters.solver.initial == kFullMultigrid;
  return starts || parameters.space.degree <= kMaxForCells ? CoarseningOrder::cells_first
                                                           : CoarseningOrder::degree_first;
}

}  // namespace

MultigridOptions multigrid_options(const CaseParameters& parameters) {
  const MultigridParameters& multigrid = parameters.solver.multigrid;
  MultigridOptions options;
  options.rules.order = coarsening_order(parameters);
  if (multigrid.levels > 0) options.rules.most_levels = multigrid.levels;
  options.smoother = multigrid.smoother;
  options.smoother_degree = multigrid.smoother_degree;
  options.local_sweeps = parameters.solver.block_jacobi.local_sweeps;
  options.scatter = level_scatter(parameters);
  return options;
}

}  // namespace tessera
