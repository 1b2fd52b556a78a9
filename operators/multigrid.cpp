#include "operators/multigrid.hpp"

#include "operators/multigrid_assembly.hpp"

namespace tessera {

double smoothed_level_bytes(const MultigridOptions& options, double apply, double vector) {
  // Beside x and y of the application 7 vectors of a step, 4 of the first one, 3 of the residual,
  // 6.2 of the transfers' sweeps.
  const double steps = 2.0 * options.smoother_degree - 1.0;
  return steps * (apply + 7.0 * vector) + 4.0 * vector + apply + 3.0 * vector + 6.2 * vector;
}

template <class T>
MadeMultigrid<T, Host> make_multigrid(const StiffnessForm& form, const MultigridOptions& options,
                                      const LinearOperator<T, Host>* finest) {
  const auto make = [](const StrategyName& strategy, const StiffnessForm& level) {
    return make_operator<T>(strategy, level);
  };
  const auto make_blocks = [](const StiffnessForm& level, const BlockJacobiOptions& blocks) {
    return make_block_jacobi<T>(level, blocks);
  };
  return MultigridAssembly<T, Host, decltype(make), decltype(make_blocks)>(
             form, options, Processor::cpu, make, make_blocks)
      .make(finest);
}

template MadeMultigrid<double, Host> make_multigrid(const StiffnessForm&, const MultigridOptions&,
                                                    const LinearOperator<double, Host>*);
template MadeMultigrid<float, Host> make_multigrid(const StiffnessForm&, const MultigridOptions&,
                                                   const LinearOperator<float, Host>*);

}  // namespace tessera
