// The methods for matrices that are not symmetric are made here, for each execution space.
#pragma once

#include "solvers/krylov/nonsymmetric/bicgstab.hpp"
#include "solvers/krylov/nonsymmetric/flexible_gmres.hpp"

namespace tessera {

template <class T, class Space>
std::unique_ptr<Solver<T, Space>> make_flexible_gmres(
    const LinearOperator<T, Space>& a, const Preconditioner<T, Space>* preconditioner,
    int restart) {
  return std::make_unique<SteeredSolver<T, Space, FlexibleGmres<T, Space>>>(a, preconditioner,
                                                                            restart);
}

template <class T, class Space>
std::unique_ptr<Solver<T, Space>> make_bicgstab(const LinearOperator<T, Space>& a,
                                                const Preconditioner<T, Space>* preconditioner) {
  return std::make_unique<SteeredSolver<T, Space, BiCgStab<T, Space>>>(a, preconditioner);
}

}  // namespace tessera
