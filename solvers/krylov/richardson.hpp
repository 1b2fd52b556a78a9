// Richardson's iteration applies a preconditioner to the residual again and again.
#pragma once

#include "solvers/krylov/cg.hpp"

namespace tessera {

/// The fixed-point iteration x += omega M (b - A x), for any A and M with spectral radius of
/// I - omega M A below 1, by which the error falls; without a preconditioner M = I. Options and
/// report as cg()'s; the residual of every iteration is the true one, so there is nothing to
/// replace. Ends as diverged where the residual has grown to kMaxGrowth times the initial one, and
/// as stagnated by the rule of StagnationMonitor with the fall of r.r for a gain.
///
/// Vectors read or written an iteration, beside the operator's 2 and what M reads and writes: 3
/// without a preconditioner (x += omega r), 4 with a diagonal one, 3 with a general one, and 3 for
/// the residual, 1 with fused forms. One reduction, which nothing but the ending waits for. The
/// residual reaches a few eps ||A|| ||x||, as nothing drifts.
///
/// It pays where M is nearly A^-1 (a multigrid cycle), to see what M does on its own, and where M A
/// is not symmetric.
/// @param omega relaxation, a share of M's correction
template <class T, class Space>
SolveReport richardson(const LinearOperator<T, Space>& a,
                       const Preconditioner<T, Space>* preconditioner, const Vector<T, Space>& b,
                       Vector<T, Space>& x, double omega, const CgOptions& options);

/// The same on the GPU, with scalars and graphs as cg(): two kernels beside operator and
/// preconditioner, one with fused forms. Deterministic if the operator is. @throws DeviceError
template <class T>
SolveReport richardson(const LinearOperator<T, Device>& a,
                       const Preconditioner<T, Device>* preconditioner, const DeviceVector<T>& b,
                       DeviceVector<T>& x, double omega, const CgOptions& options);

/// Growth of the residual from which on richardson() calls it divergence.
inline constexpr double kMaxGrowth = 1e6;

}  // namespace tessera
