// Multigrid on the host.
#include "operators/multigrid/multigrid.hpp"

#include "operators/multigrid/assembly.hpp"

namespace tessera {

template MultigridSetup<double, Host> make_multigrid(const BilinearForm&, const MultigridOptions&,
                                                     const LinearOperator<double, Host>*);
template MultigridSetup<float, Host> make_multigrid(const BilinearForm&, const MultigridOptions&,
                                                    const LinearOperator<float, Host>*);

}  // namespace tessera
