#include "src/preconditioning_assembly.hpp"

namespace tessera {

namespace {

SmootherKind smoother_kind(SmootherChoice choice) {
  switch (choice) {
    case SmootherChoice::chebyshev:
      return SmootherKind::chebyshev;
    case SmootherChoice::block_jacobi:
      return SmootherKind::block_jacobi;
    case SmootherChoice::block_asynchronous_jacobi:
      return SmootherKind::block_asynchronous_jacobi;
  }
  return SmootherKind::chebyshev;
}

}  // namespace

MultigridOptions multigrid_options(const CaseParameters& parameters) {
  const MultigridParameters& multigrid = parameters.solver.multigrid;
  MultigridOptions options;
  options.rules.order = multigrid.coarsening;
  if (multigrid.levels > 0) options.rules.most_levels = multigrid.levels;
  options.smoother = smoother_kind(multigrid.smoother);
  options.smoother_degree = multigrid.smoother_degree;
  options.local_sweeps = parameters.solver.block_jacobi.local_sweeps;
  if (parameters.operation.scatter != kNoScatter) options.scatter = parameters.operation.scatter;
  return options;
}

template MadePreconditioner<double, Host> make_preconditioner(const CaseParameters&,
                                                              const StiffnessForm&,
                                                              const LinearOperator<double, Host>&,
                                                              double);
template MadePreconditioner<float, Host> make_preconditioner(const CaseParameters&,
                                                             const StiffnessForm&,
                                                             const LinearOperator<float, Host>&,
                                                             double);

}  // namespace tessera
