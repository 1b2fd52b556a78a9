// These are preconditioned and flexible conjugate gradients, with options and report of every
// method.
#pragma once

#include <functional>
#include <string_view>
#include <vector>

#include "solvers/linear_operator.hpp"
#include "solvers/preconditioner.hpp"

namespace tessera {

/// How an iterative solve ended.
enum class SolveStatus {
  converged,
  iteration_limit,  // the iteration limit came first
  stagnated,        // the residual stopped falling, or rounding hides it
  indefinite,       // p.Ap <= 0: the operator is not positive definite
  not_finite,       // a NaN or an infinity appeared
  interrupted,      // the observer asked to stop
  diverged          // the residual grew beyond all measure (stationary iterations)
};

/// One or two words for tables and result files.
std::string_view status_name(SolveStatus status);

/// What an observer answers after each iteration.
enum class Continue { yes, no };

struct CgOptions {
  /// Stop at ||b - A x|| <= relative_tolerance * reference_norm.
  double relative_tolerance = 1e-8;
  /// ||b||; if it is 0 the tolerance is on the initial residual.
  double reference_norm = 0.0;
  int max_iterations = 1000;
  /// r = b - A x is computed anew every so many iterations, which go on with it; 0: never. The
  /// residual of the recurrence then drifts from the true one no further than in that many
  /// iterations.
  int replacement_interval = 0;
  /// Called after every iteration with its number and relative residual; may be empty.
  std::function<Continue(int iteration, double relative_residual)> observer;
};

struct SolveReport {
  SolveStatus status = SolveStatus::iteration_limit;
  int iterations = 0;
  /// What residuals are divided by: that of the options, or the initial residual's norm where that
  /// is 0.
  double reference_norm = 0.0;
  /// ||r|| / reference_norm before the first and after every iteration (recurrence residual).
  std::vector<double> history;
  /// ||b - A x|| / reference_norm, computed from x at the end.
  double true_relative_residual = 0.0;
};

/// Solves A x = b by preconditioned conjugate gradients from the initial guess in x
/// (Saad, Iterative Methods for Sparse Linear Systems, algorithm 9.1); A and M symmetric positive
/// definite. `preconditioner` may be null. Scalars are double in any precision of the vectors.
///
/// The residual of the recurrence drifts from b - A x by rounding, so it is computed anew when the
/// recurrence has converged; where the two differ, the iteration restarts from the true one, and
/// ends as stagnated if that does not help.
///
/// Where the operator has fused forms and there is no preconditioner, its pass gives p.Ap and
/// Ap.Ap, and ||r - alpha A p||^2 = alpha^2 Ap.Ap - r.r, from which beta is made, so that one pass
/// updates x, r and p. The true r.r, summed in that pass, is used from there on, so rounding in
/// beta does not build up.
///
/// Vectors read or written an iteration, beside the operator's 2 and what M reads and writes:
///
///   preconditioner   none   diagonal   general
///                      11         13        13
///   fused forms         7         11        11
///
/// Two reductions an iteration, each waited for (one with fused forms and no preconditioner). The
/// residual b - A x reaches a few eps ||A|| ||x||.
template <class T, class Space>
SolveReport cg(const LinearOperator<T, Space>& a, const Preconditioner<T, Space>* preconditioner,
               const Vector<T, Space>& b, Vector<T, Space>& x, const CgOptions& options);

/// The same on the GPU, where scalars stay there and iterations are the replay of a CUDA graph
/// (one, or eight where they are short):
///   q = A p | p.q; r -= alpha q, r.r and r.z; x += alpha p, p = z + beta p
/// with the three passes of the second part (2, 3 and 5 vectors read or written, one more each of
/// the last two with a diagonal preconditioner) in one kernel. With any other preconditioner, which
/// is applied as often as there are iterations:
///   z = M r | r.z; x += alpha p, p = z + beta p | q = A p | p.q; r -= alpha q, r.r
/// in two kernels of 7 and 5 vectors, where p.q is the operator's if it has fused forms, which
/// leaves 7 and 3. Where it has them and there is no preconditioner:
///   q = A p, p.q, q.q | r -= alpha q, r.r, p = r + beta p, and every second time x += both alpha p
/// which are 2 + 6.5 vectors read or written an iteration instead of 2 + 10.
/// Iterations are queued in batches of a few milliseconds, two ahead of what the host has seen, one
/// where a single iteration takes longer; once converged, further ones in the queue change nothing.
/// The same bits in every run if the operator is deterministic.
/// @throws DeviceError
template <class T>
SolveReport cg(const LinearOperator<T, Device>& a, const Preconditioner<T, Device>* preconditioner,
               const DeviceVector<T>& b, DeviceVector<T>& x, const CgOptions& options);

/// Flexible CG (Notay, Flexible conjugate gradients, SIAM J. Sci. Comput. 22, 2000; truncated to
/// one direction): beta = z.(r - r_old) / (z.r)_old, for preconditioners that are not exactly
/// symmetric or linear, or change from call to call (cycles in single precision, asynchronous
/// sweeps, inner iterations). With r - r_old = -alpha q it is beta = -z.q / p.q, so that no second
/// residual is kept.
///
/// One more vector read an iteration than cg(), in the pass that sums z.r; otherwise as cg(): two
/// reductions, the same attainable accuracy. Without a preconditioner or with a diagonal one it is
/// cg(). It pays where cg() takes more iterations than M is worth.
template <class T, class Space>
SolveReport flexible_cg(const LinearOperator<T, Space>& a,
                        const Preconditioner<T, Space>* preconditioner, const Vector<T, Space>& b,
                        Vector<T, Space>& x, const CgOptions& options);
/// The same on the GPU. @throws DeviceError
template <class T>
SolveReport flexible_cg(const LinearOperator<T, Device>& a,
                        const Preconditioner<T, Device>* preconditioner, const DeviceVector<T>& b,
                        DeviceVector<T>& x, const CgOptions& options);

}  // namespace tessera
