// This file makes preconditioners on the host.
#include "src/solve/preconditioning.hpp"

#include "src/case/nonlinear/nonlinear_case.hpp"
#include "src/case/shape.hpp"
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

// On the GPU small levels are one kernel, which takes matrices of few nonzeros: of low degree. A
// start by full multigrid needs the order of the discretization on every level.
Index degree_first_below(const CaseParameters& parameters) {
  constexpr Index kSmall = Index{1} << 18;
  const MultigridParameters& multigrid = parameters.solver.multigrid;
  const bool takes_it = case_processor(parameters) == Processor::gpu &&
                        multigrid.coarsening == CoarseningChoice::automatic &&
                        multigrid.smoother == SmootherKind::chebyshev &&
                        parameters.solver.initial != kFullMultigrid;
  return takes_it ? kSmall : 0;
}

// The coarsest level's inverse takes a core 20 ms at 729 DoFs and 3 ms at 343, which of small
// cases, and where it is often made, is more than what it saves in iterations. A GPU takes less for
// it than for one level more.
bool inverse_counts(const CaseParameters& parameters) {
  constexpr Index kSmallCase = 200'000;
  if (case_processor(parameters) != Processor::cpu) return false;
  return is_nonlinear(parameters) || parameters.time ||
         case_shape(parameters).lattice.size() <= kSmallCase;
}

}  // namespace

MultigridOptions multigrid_options(const CaseParameters& parameters) {
  const MultigridParameters& multigrid = parameters.solver.multigrid;
  MultigridOptions options;
  options.rules.order = coarsening_order(parameters);
  options.rules.degree_first_below = degree_first_below(parameters);
  constexpr Index kSmallInverse = 400;
  if (inverse_counts(parameters)) options.rules.small_enough = kSmallInverse;
  if (multigrid.levels > 0) options.rules.max_levels = multigrid.levels;
  options.smoother = multigrid.smoother;
  options.smoother_degree = multigrid.smoother_degree;
  options.local_sweeps = parameters.solver.block_jacobi.local_sweeps;
  options.scatter = level_scatter(parameters);
  options.gather_dofs = gather_dofs(case_processor(parameters), parameters.run.processes);
  return options;
}

}  // namespace tessera
