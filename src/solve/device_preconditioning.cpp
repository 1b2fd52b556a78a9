// This file makes preconditioners in GPU memory.
#include "src/solve/preconditioning_assembly.hpp"

namespace tessera {

template PreconditionerSetup<double, Device> make_preconditioner(
    const CaseParameters&, const BilinearForm&, const LinearOperator<double, Device>&, double);
template PreconditionerSetup<float, Device> make_preconditioner(
    const CaseParameters&, const BilinearForm&, const LinearOperator<float, Device>&, double);

}  // namespace tessera
