#include "src/preconditioning_assembly.hpp"

namespace tessera {

MultigridOptions multigrid_options(const CaseParameters& parameters) {
  const MultigridParameters& multigrid = parameters.solver.multigrid;
  MultigridOptions options;
  options.rules.order = multigrid.coarsening;
  if (multigrid.levels > 0) options.rules.most_levels = multigrid.levels;
  options.smoother_degree = multigrid.smoother_degree;
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
