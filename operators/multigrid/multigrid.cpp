// This file makes multigrid on the host.
#include "operators/multigrid/multigrid.hpp"

#include "operators/multigrid/assembly.hpp"

namespace tessera {

template <class T>
MultigridSetup<T, Host> make_multigrid(const BilinearForm& form, const MultigridOptions& options,
                                       const LinearOperator<T, Host>* finest) {
  const auto make = [](const StrategyName& strategy, const BilinearForm& level) {
    return make_operator<T>(strategy, level);
  };
  const auto make_blocks = [](const BilinearForm& level, const BlockJacobiOptions& blocks) {
    return make_block_jacobi<T>(level, blocks);
  };
  return MultigridAssembly<T, Host, decltype(make), decltype(make_blocks)>(
             form, options, Processor::cpu, make, make_blocks)
      .make(finest);
}

template MultigridSetup<double, Host> make_multigrid(const BilinearForm&, const MultigridOptions&,
                                                     const LinearOperator<double, Host>*);
template MultigridSetup<float, Host> make_multigrid(const BilinearForm&, const MultigridOptions&,
                                                    const LinearOperator<float, Host>*);

}  // namespace tessera
