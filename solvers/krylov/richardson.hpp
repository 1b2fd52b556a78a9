// Richardson's iteration applies a preconditioner to the residual again and again.
#pragma once

#include "solvers/krylov/cg.hpp"

namespace tessera {

/// The fixed-point iteration x += omega M (b - A x); without a preconditioner M = I. It converges
/// for any A and M for which the spectral radius of I - omega M A is below 1, and the error falls
/// by that factor. Options and report are those of CG. The residual of every iteration is the
/// true one, so there is nothing to replace. The iteration ends as diverged if the residual has
/// grown to kMaxGrowth times the initial one, and as stagnated by the rule of StagnationMonitor,
/// with the fall of r.r as the gain.
///
/// Vectors read or written per iteration, beside the operator's 2 and what M reads and writes: 3
/// without a preconditioner (x += omega r), 4 with a diagonal one, 3 with a general one, and 3 for
/// the residual, 1 with fused operations. There is one reduction, for which only the ending waits.
/// The residual reaches a few eps ||A|| ||x||, because nothing drifts.
///
/// It pays where M is nearly A^-1 (a multigrid cycle), to see what M does on its own, and where M A
/// is not symmetric.
///
/// The same on the GPU, with scalars and graphs like those of CG. There are two kernels beside
/// operator and preconditioner, one with fused operations. The solve is deterministic if the
/// operator is.
/// @param omega the relaxation: the share of M's correction that is added
template <class T, class Space>
std::unique_ptr<Solver<T, Space>> make_richardson(const LinearOperator<T, Space>& a,
                                                  const Preconditioner<T, Space>* preconditioner,
                                                  double omega);

/// The growth of the residual at which the iteration ends as diverged.
inline constexpr double kMaxGrowth = 1e6;

}  // namespace tessera
