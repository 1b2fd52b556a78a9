// These are methods for matrices that are not symmetric: flexible GMRES and BiCGStab.
#pragma once

#include <memory>

#include "solvers/linear_operator.hpp"
#include "solvers/preconditioner.hpp"
#include "solvers/solver.hpp"

namespace tessera {

/// Flexible GMRES with restarts (Saad, Iterative Methods for Sparse Linear Systems, algorithm 9.6):
/// the residual is the least over x + span(M_1 v_1, ..., M_k v_k), k <= restart, where v_1, v_2,
/// ... are an orthonormal basis of the residual and its products; M may be another map in every
/// call. A need not be symmetric or definite. The residual of a cycle never grows. After `restart`
/// iterations the basis is given up, b - A x is computed and the next cycle begins; it may stagnate
/// if the basis is too small.
///
/// Vectors: the residual and restart + 1 of the basis, and with a general preconditioner `restart`
/// more, M v. Vectors read or written by iteration k of a cycle, beside the operator's 2 and what M
/// reads and writes: 4 k + 8, of two passes of classical Gram-Schmidt, which is as good as modified
/// and needs two waits for sums instead of k. The residual reaches a few eps ||A|| ||x||. p.Ap
/// <= 0 is no failure here, so that no solve ends as indefinite.
///
/// On the GPU vectors and sums are there, and the small problem of least squares is on the host, so
/// that nothing is recorded.
/// @param restart at least 1
template <class T, class Space>
std::unique_ptr<Solver<T, Space>> make_flexible_gmres(
    const LinearOperator<T, Space>& a, const Preconditioner<T, Space>* preconditioner,
    int restart = kDefaultRestart);

/// BiCGStab (van der Vorst, SIAM J. Sci. Stat. Comput. 13, 1992), preconditioned from the right; A
/// need not be symmetric, M has to be the same map in every call. Its residual is not the least of
/// anything and goes up and down. Where rounding has spoiled its recurrences it begins anew from
/// b - A x.
///
/// An iteration has two products with A and with M, three waits for sums, and reads or writes 22
/// vectors beside those. Vectors: 5, and with a preconditioner 6, however many iterations there
/// are. It pays where flexible GMRES needs more vectors than there is memory.
template <class T, class Space>
std::unique_ptr<Solver<T, Space>> make_bicgstab(const LinearOperator<T, Space>& a,
                                                const Preconditioner<T, Space>* preconditioner);

}  // namespace tessera
