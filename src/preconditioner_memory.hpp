#pragma once

#include <vector>

#include "operators/multigrid.hpp"
#include "src/memory_estimate.hpp"
#include "src/parameters/case_parameters.hpp"

namespace tessera {

/// The levels that multigrid will have in the case, from sizes and a few values of the map;
/// eigenvalues are 0. Where a coarser mesh turns out not to resolve the map there will be fewer.
std::vector<LevelSummary> planned_levels(const CaseParameters& parameters);

/// Bytes of the case's preconditioner on the processor that it runs on, without z = M r.
StrategyBytes preconditioner_bytes(const CaseParameters& parameters);

/// Vectors that an iteration with the preconditioner needs beside plain CG's: z = M r.
int preconditioned_vectors(const CaseParameters& parameters);

}  // namespace tessera
