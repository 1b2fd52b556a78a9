// Multigrid in GPU memory.
#include "operators/multigrid/assembly.hpp"

namespace tessera {

template MultigridSetup<double, Device> make_multigrid(const BilinearForm&, const MultigridOptions&,
                                                       const LinearOperator<double, Device>*);
template MultigridSetup<float, Device> make_multigrid(const BilinearForm&, const MultigridOptions&,
                                                      const LinearOperator<float, Device>*);

}  // namespace tessera
