// These functions know the memory of a case's preconditioner before it is made.
#pragma once

#include <vector>

#include "mesh/partition/box_partition.hpp"
#include "operators/fast_diagonalization/axis_modes.hpp"
#include "operators/multigrid/multigrid.hpp"
#include "src/case/memory/memory_estimate.hpp"
#include "src/parameters/case_parameters.hpp"

namespace tessera {

/// The levels that multigrid will have in the case, from sizes and a few values of the map;
/// eigenvalues are 0. Where a coarser mesh turns out not to resolve the map there will be fewer.
/// The traffic of a coarsest level that is iterated on follows from the condition number, which is
/// that of equal cells here.
std::vector<LevelSummary> planned_levels(const CaseParameters& parameters);

/// Least bytes that an application y = A x moves: what it reads of the operator, x and y.
Index application_bytes(const StrategyName& strategy, const FormShape& shape);

/// Bytes of the case's preconditioner on the processor that it runs on, without z = M r.
OperatorBytes preconditioner_bytes(const CaseParameters& parameters);

/// Bytes in the memory of the host beside those of preconditioner_bytes(): positions of coarser
/// meshes, and while it is made the inverse of a coarsest level and the modes of axes.
OperatorBytes preconditioner_host_bytes(const CaseParameters& parameters);

/// The same by preconditioner, whatever the case names: for their rows.
OperatorBytes jacobi_bytes(const CaseParameters& parameters);
OperatorBytes chebyshev_bytes(const CaseParameters& parameters);
OperatorBytes multigrid_bytes(const CaseParameters& parameters);
OperatorBytes multigrid_host_bytes(const CaseParameters& parameters);
OperatorBytes fast_diagonalization_bytes(const CaseParameters& parameters);
OperatorBytes fast_diagonalization_host_bytes(const CaseParameters& parameters);
/// Bytes at most of fast diagonalization on a rank, beside that of its part; 0 without.
Index rank_inverse_bytes(const CaseParameters& parameters, const BoxPartition& partition, int rank);
OperatorBytes synchronous_block_bytes(const CaseParameters& parameters);
OperatorBytes asynchronous_block_bytes(const CaseParameters& parameters);

/// Bytes of a start by full multigrid beside the preconditioner, while it lasts, on the processor;
/// 0 for another start.
Index full_multigrid_bytes(const CaseParameters& parameters);

/// The same in the memory of the host where it runs on the GPU: vectors on their way.
Index full_multigrid_host_bytes(const CaseParameters& parameters);

/// Vectors of the case's method: for cg and flexible-cg r, p, q (and z), for the others as many as
/// their recurrences have. Without x and b.
int solver_vectors(const CaseParameters& parameters, const StrategyName& strategy);

/// What the modes of the axes take in fast diagonalization, by far most of its setup. An upper
/// bound where axes need not be mirror images of themselves.
AxisWork planned_axis_work(const CaseParameters& parameters);

}  // namespace tessera
