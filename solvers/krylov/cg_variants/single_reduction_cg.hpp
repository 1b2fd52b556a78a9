// These conjugate gradients wait for one reduction per iteration instead of two.
#pragma once

#include "solvers/krylov/cg.hpp"

namespace tessera {

/// CG with one reduction per iteration (Chronopoulos and Gear, s-step iterative methods for
/// symmetric linear systems, J. Comput. Appl. Math. 25, 1989), preconditioned; A and M as in CG:
///
///   u = M r, w = A u | gamma = r.u, delta = w.u, r.r | beta = gamma / gamma_old,
///   alpha = gamma / (delta - beta gamma / alpha_old) |
///   p = u + beta p, s = w + beta s, x += alpha p, r -= alpha s
///
/// with s = A p by recurrence and delta - beta gamma / alpha_old = p.Ap. If that is not positive,
/// p.Ap is computed to tell an indefinite operator from rounding; after rounding the iteration
/// starts again from b - A x. Options, endings and report are otherwise those of CG.
///
/// Vectors read or written per iteration, beside the operator's 2 and what M reads and writes:
///
///   preconditioner   none   diagonal   general
///                      11         14        13
///   fused operations    9         12        13
///
/// There is one reduction, for which the solver waits between the operator and the updates.
/// Attainable accuracy: rounding in s adds to b - A x with every alpha p. As measured on matrices
/// of condition up to 1e6 and on five-point matrices of up to 300 nodes per axis, the accuracy is
/// that of CG within a factor of 3. Replacing the residual takes two more applications of A; on
/// the matrix of condition 1e6 it does harm (4e-6 instead of 5e-11).
///
/// It pays where waiting costs more than memory traffic: many processes, or a small problem on a
/// GPU. On one processor with long vectors CG reads less.
///
/// The same on the GPU. Beside operator and preconditioner there is one kernel for the updates and
/// the sums of r alone, and one for the sums with w. The second kernel is not needed if the
/// operator has fused operations, which sum w.u, and M is not a general preconditioner. There are
/// no barriers of the grid, scalars stay on the GPU, and iterations are graphs like those of CG.
/// The solve is deterministic if the operator is.
template <class T, class Space>
std::unique_ptr<Solver<T, Space>> make_single_reduction_cg(
    const LinearOperator<T, Space>& a, const Preconditioner<T, Space>* preconditioner);

}  // namespace tessera
