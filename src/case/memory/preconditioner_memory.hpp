// These functions know the memory of a case's preconditioner before it is made.
#pragma once

#include "mesh/partition/box_partition.hpp"
#include "operators/block_jacobi/block_jacobi.hpp"
#include "operators/fast_diagonalization/axis_modes.hpp"
#include "operators/strategy.hpp"
#include "src/parameters/case_parameters.hpp"

namespace tessera {

/// While an eigenvalue is estimated: the diagonal and three vectors of conjugate gradients.
inline constexpr int kEigenvalueVectors = 4;

/// Bytes of the case's preconditioner on the processor that it runs on, without z = M r.
OperatorBytes preconditioner_bytes(const CaseParameters& parameters);

/// Bytes in the memory of the host beside those of preconditioner_bytes(): positions of coarser
/// meshes, and while it is made the inverse of a coarsest level and the modes of axes.
OperatorBytes preconditioner_host_bytes(const CaseParameters& parameters);

/// The same by preconditioner, whatever the case names, for their rows; multigrid's are in
/// multigrid_memory.hpp.
OperatorBytes jacobi_bytes(const CaseParameters& parameters);
OperatorBytes chebyshev_bytes(const CaseParameters& parameters);
OperatorBytes fast_diagonalization_bytes(const CaseParameters& parameters);
OperatorBytes fast_diagonalization_host_bytes(const CaseParameters& parameters);
/// Bytes at most of fast diagonalization on a rank, as preconditioner and of a mass matrix: in the
/// memory of the host beside that of its part; 0 without.
struct RankInverseBytes {
  Index on_host = 0;
  Index on_gpu = 0;
};
RankInverseBytes rank_inverse_bytes(const CaseParameters& parameters, const BoxPartition& partition,
                                    int rank);
OperatorBytes synchronous_block_bytes(const CaseParameters& parameters);
OperatorBytes asynchronous_block_bytes(const CaseParameters& parameters);
/// Of both, on a form of this shape: while it is made with the vectors that its largest eigenvalue
/// is estimated with.
OperatorBytes block_preconditioner_bytes(const FormShape& shape, BlockExchange exchange);

/// Whether the case's operator changes, and its preconditioner with it.
bool updates_preconditioner(const CaseParameters& parameters);

/// Vectors of the case's method: for cg and flexible-cg r, p, q (and z), for the others as many as
/// their recurrences have. Without x and b.
int solver_vectors(const CaseParameters& parameters, const StrategyName& strategy);

/// What the modes of the axes take in fast diagonalization, by far most of its setup. An upper
/// bound where axes need not be mirror images of themselves.
AxisWork planned_axis_work(const CaseParameters& parameters);

}  // namespace tessera
