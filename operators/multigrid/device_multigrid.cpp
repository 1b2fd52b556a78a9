// This file makes multigrid in GPU memory.
#include "operators/device_strategy.hpp"
#include "operators/multigrid/assembly.hpp"
#include "operators/multigrid/multigrid.hpp"

namespace tessera {

template <class T>
MultigridSetup<T, Device> make_device_multigrid(const BilinearForm& form,
                                                const MultigridOptions& options,
                                                const LinearOperator<T, Device>* finest) {
  const auto make = [](const StrategyName& strategy, const BilinearForm& level) {
    return make_device_operator<T>(strategy, level);
  };
  const auto make_blocks = [](const BilinearForm& level, const BlockJacobiOptions& blocks) {
    return make_device_block_jacobi<T>(level, blocks);
  };
  return MultigridAssembly<T, Device, decltype(make), decltype(make_blocks)>(
             form, options, Processor::gpu, make, make_blocks)
      .make(finest);
}

template MultigridSetup<double, Device> make_device_multigrid(
    const BilinearForm&, const MultigridOptions&, const LinearOperator<double, Device>*);
template MultigridSetup<float, Device> make_device_multigrid(const BilinearForm&,
                                                             const MultigridOptions&,
                                                             const LinearOperator<float, Device>*);

}  // namespace tessera
