// These functions know the levels and the memory of a case's multigrid before it is made.
#pragma once

#include <vector>

#include "operators/multigrid/multigrid.hpp"
#include "operators/strategy.hpp"
#include "src/parameters/case_parameters.hpp"

namespace tessera {

/// The levels that multigrid will have in the case, from sizes and a few values of the map;
/// eigenvalues are 0. Where a coarser mesh turns out not to resolve the map there will be fewer.
/// The traffic of a coarsest level that is iterated on follows from the condition number, which is
/// that of equal cells here.
std::vector<LevelSummary> planned_levels(const CaseParameters& parameters);

/// Bytes of multigrid on the processor that it runs on, and those in the memory of the host beside
/// them, whatever preconditioner the case names: for its row.
OperatorBytes multigrid_bytes(const CaseParameters& parameters);
OperatorBytes multigrid_host_bytes(const CaseParameters& parameters);

/// Bytes of a start by full multigrid beside the preconditioner, while it lasts, on the processor;
/// 0 for another start.
Index full_multigrid_bytes(const CaseParameters& parameters);

/// The same in the memory of the host where it runs on the GPU: loads of coarser levels that the
/// GPU cannot assemble.
Index full_multigrid_host_bytes(const CaseParameters& parameters);

}  // namespace tessera
