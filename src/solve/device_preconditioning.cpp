#include "src/solve/preconditioning_assembly.hpp"

namespace tessera {

template MadePreconditioner<double, Device> make_preconditioner(
    const CaseParameters&, const StiffnessForm&, const LinearOperator<double, Device>&, double);
template MadePreconditioner<float, Device> make_preconditioner(const CaseParameters&,
                                                               const StiffnessForm&,
                                                               const LinearOperator<float, Device>&,
                                                               double);

}  // namespace tessera
