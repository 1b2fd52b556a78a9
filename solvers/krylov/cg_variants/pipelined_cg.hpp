// Pipelined conjugate gradients hide their only reduction behind preconditioner and operator.
#pragma once

#include "solvers/krylov/cg.hpp"

namespace tessera {

/// Pipelined CG (Ghysels and Vanroose, Hiding global synchronization latency in the preconditioned
/// conjugate gradient algorithm, Parallel Computing 40, 2014): the sums of an iteration are needed
/// only after its preconditioner and operator. A and M as in CG:
///
///   m = M w, n = A m | gamma = r.u, delta = w.u, r.r of the update before are needed from here on:
///   beta = gamma / gamma_old, alpha = gamma / (delta - beta gamma / alpha_old) |
///   z = n + beta z, q = m + beta q, s = w + beta s, p = u + beta p,
///   x += alpha p, r -= alpha s, u -= alpha q, w -= alpha z
///
/// with u = M r, w = A u, s = A p, q = M s and z = A q by recurrence. If delta - beta gamma /
/// alpha_old, which equals p.Ap, is not positive, p.Ap is computed to tell an indefinite operator
/// from rounding; after rounding the iteration starts again from b - A x. Options, endings and
/// report are otherwise those of CG.
///
/// Vectors read or written per iteration, beside the operator's 2 and what M reads and writes: 13
/// without a preconditioner, 15 with a diagonal one, 18 with a general one; all in one pass. There
/// is one reduction, which a whole application of M and A hides.
///
/// Attainable accuracy: rounding in the recurrences is amplified from iteration to iteration (Cools
/// et al., Analyzing the effect of local rounding error propagation on the maximal attainable
/// accuracy of the pipelined conjugate gradient method, SIAM J. Matrix Anal. Appl. 39, 2018);
/// measured on five-point matrices in double precision, the smallest ||b - A x|| of any iteration
/// is 6e-15, 5e-14, 1e-10 and 5e-10 ||b|| for 100, 150, 200 and 250 nodes per axis, where CG
/// reaches 3e-14, 6e-14, 4e-14 and 1e-13. On a matrix of condition 1e6 and 60 unknowns it reaches
/// nothing useful. With SolveOptions::replacement_interval the vectors r, u, w, s, q and z are
/// computed anew from x and p every so many iterations (periodic replacement), at the cost of four
/// more applications of A and three of M.
///
/// It pays where a reduction takes about as long as M and A: thousands of processes, or a problem
/// so small that launches and barriers take most of its time.
///
/// The same on the GPU, with one kernel beside operator and preconditioner and without barriers of
/// the grid. Scalars stay on the GPU, and iterations are graphs like those of CG. The solve is
/// deterministic if the operator is.
template <class T, class Space>
std::unique_ptr<Solver<T, Space>> make_pipelined_cg(const LinearOperator<T, Space>& a,
                                                    const Preconditioner<T, Space>* preconditioner);

}  // namespace tessera
