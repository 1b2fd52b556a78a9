// This file has the methods for matrices that are not symmetric on the GPU.
#include "solvers/krylov/nonsymmetric/maker.hpp"

namespace tessera {

template std::unique_ptr<Solver<double, Device>> make_flexible_gmres(
    const LinearOperator<double, Device>&, const Preconditioner<double, Device>*, int);
template std::unique_ptr<Solver<float, Device>> make_flexible_gmres(
    const LinearOperator<float, Device>&, const Preconditioner<float, Device>*, int);
template std::unique_ptr<Solver<double, Device>> make_bicgstab(
    const LinearOperator<double, Device>&, const Preconditioner<double, Device>*);
template std::unique_ptr<Solver<float, Device>> make_bicgstab(const LinearOperator<float, Device>&,
                                                              const Preconditioner<float, Device>*);

}  // namespace tessera
