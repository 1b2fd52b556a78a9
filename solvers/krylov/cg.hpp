// These are preconditioned and flexible conjugate gradients.
#pragma once

#include <memory>

#include "solvers/linear_operator.hpp"
#include "solvers/preconditioner.hpp"
#include "solvers/solver.hpp"

namespace tessera {

/// Preconditioned conjugate gradients
/// (Saad, Iterative Methods for Sparse Linear Systems, algorithm 9.1); A and M symmetric positive
/// definite. `preconditioner` may be null. Scalars are double in any precision of the vectors.
///
/// The residual of the recurrence drifts from b - A x by rounding, so it is computed anew when the
/// recurrence has converged; where the two differ, the iteration restarts from the true one, and
/// ends as stagnated if that does not help.
///
/// If the operator has fused operations and there is no preconditioner, its pass gives p.Ap and
/// Ap.Ap as well. Then ||r - alpha A p||^2 = alpha^2 Ap.Ap - r.r gives beta before the update, so
/// that one pass updates r and p, and every second time x by both steps (formulas.hpp). That pass
/// also sums the true r.r, which is used from there on, so that rounding in beta does not build up.
///
/// Vectors read or written per iteration, beside the operator's 2 and what M reads and writes:
///
///   preconditioner   none   diagonal   general   in single precision
///                      11         13        13                    12
///   fused operations    6         11        11                    10
///
/// The solver waits for two reductions per iteration (one with fused operations and no
/// preconditioner). The residual b - A x reaches a few eps ||A|| ||x||.
///
/// On the GPU scalars stay there, and iterations are replays of a CUDA graph, which holds
/// one iteration, or eight if they are short:
///   q = A p | p.q; r -= alpha q, r.r and r.z; x += alpha p, p = z + beta p
/// The three passes of the second part are one kernel. They read or write 2, 3 and 5 vectors; with
/// a diagonal preconditioner the last two passes have one vector more each. Any other
/// preconditioner is applied once per iteration:
///   z = M r | r.z; x += alpha p, p = z + beta p | q = A p | p.q; r -= alpha q, r.r
/// The two kernels then read or write 7 and 5 vectors; of an M in single precision they read z
/// itself, which makes 6 and 5, and no vector holds it in double precision. If the operator has
/// fused operations, it gives p.q, which leaves 7 and 3. With fused operations and no
/// preconditioner an iteration is
///   q = A p, p.q, q.q | r -= alpha q, r.r, p = r + beta p, and every second time x += both alpha p
/// with 2 + 6 vectors read or written instead of 2 + 10.
/// Iterations are queued in batches of a few milliseconds, two batches ahead of what the host has
/// seen, or one batch if a single iteration takes longer. Once the solve has converged, iterations
/// that are still queued change nothing. The bits are the same in every run if the operator is
/// deterministic.
template <class T, class Space>
std::unique_ptr<Solver<T, Space>> make_cg(const LinearOperator<T, Space>& a,
                                          const Preconditioner<T, Space>* preconditioner);

/// Flexible CG (Notay, Flexible conjugate gradients, SIAM J. Sci. Comput. 22, 2000; truncated to
/// one direction): beta = z.(r - r_old) / (z.r)_old, for preconditioners that are not exactly
/// symmetric or linear, or change from call to call (cycles in single precision, asynchronous
/// sweeps, inner iterations). With r - r_old = -alpha q it is beta = -z.q / p.q, so that no second
/// residual is kept.
///
/// It reads one vector more per iteration than CG, in the pass that sums z.r. Otherwise it is
/// like CG: two reductions, the same attainable accuracy. Without a preconditioner or with a
/// diagonal one it is CG. It pays where CG takes more iterations than M should need.
template <class T, class Space>
std::unique_ptr<Solver<T, Space>> make_flexible_cg(const LinearOperator<T, Space>& a,
                                                   const Preconditioner<T, Space>* preconditioner);

}  // namespace tessera
