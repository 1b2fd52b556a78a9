#include "operators/multigrid.hpp"

#include "operators/multigrid_assembly.hpp"

namespace tessera {

template <class T>
MadeMultigrid<T, Host> make_multigrid(const StiffnessForm& form, const MultigridOptions& options,
                                      const LinearOperator<T, Host>* finest) {
  const auto make = [](const StrategyName& strategy, const StiffnessForm& level) {
    return make_operator<T>(strategy, level);
  };
  return MultigridAssembly<T, Host, decltype(make)>(form, options, Processor::cpu, make)
      .make(finest);
}

template MadeMultigrid<double, Host> make_multigrid(const StiffnessForm&, const MultigridOptions&,
                                                    const LinearOperator<double, Host>*);
template MadeMultigrid<float, Host> make_multigrid(const StiffnessForm&, const MultigridOptions&,
                                                   const LinearOperator<float, Host>*);

}  // namespace tessera
