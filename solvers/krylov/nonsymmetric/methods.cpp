// This file has the methods for matrices that are not symmetric on the host.
#include "solvers/krylov/nonsymmetric/maker.hpp"

namespace tessera {

template std::unique_ptr<Solver<double, Host>> make_flexible_gmres(
    const LinearOperator<double, Host>&, const Preconditioner<double, Host>*, int);
template std::unique_ptr<Solver<float, Host>> make_flexible_gmres(
    const LinearOperator<float, Host>&, const Preconditioner<float, Host>*, int);
template std::unique_ptr<Solver<double, Host>> make_bicgstab(const LinearOperator<double, Host>&,
                                                             const Preconditioner<double, Host>*);
template std::unique_ptr<Solver<float, Host>> make_bicgstab(const LinearOperator<float, Host>&,
                                                            const Preconditioner<float, Host>*);

}  // namespace tessera
