// These functions tell the size and the memory of a rank's part of a case.
#pragma once

#include "mesh/partition/box_partition.hpp"
#include "src/case/memory/memory_estimate.hpp"
#include "src/parameters/case_parameters.hpp"

namespace tessera {

/// The nodes of a rank's part, with those that it shares.
Index part_dofs(const BoxPartition& partition, int rank, int degree);

/// The rank with the most nodes, the lowest of several, and the one with the fewest.
int largest_part(const BoxPartition& partition, int degree);
int smallest_part(const BoxPartition& partition, int degree);

/// The case as a rank has it: its mesh is the part, and faces within the domain have no condition.
/// For sizes only.
CaseParameters part_case(const CaseParameters& parameters, const BoxPartition& partition, int rank);

/// Bytes of the messages of all exchanges in a case, those of all levels of multigrid together, and
/// of vectors that ranks sum up before they are added to others.
Index exchange_bytes(const CaseParameters& parameters, const BoxPartition& partition, int rank);

/// Bytes of the levels of multigrid that every rank has as a whole, with the sums in which they are
/// gathered; 0 without multigrid.
Index gathered_bytes(const CaseParameters& parameters, const BoxPartition& partition);

/// The host's memory of a rank in a run of the case: that of its part, of exchanges, of levels
/// that are gathered, of MPI, and its share of the whole solution that rank 0 has to draw.
/// @param on_host how many ranks a host has, so that their sum is its need
MemoryEstimate estimate_rank_memory(const CaseParameters& parameters, const StrategyName& strategy,
                                    const BoxPartition& partition, int rank, int on_host);

/// The same in the memory of its GPU.
MemoryEstimate estimate_rank_gpu_memory(const CaseParameters& parameters,
                                        const StrategyName& strategy, const BoxPartition& partition,
                                        int rank);

}  // namespace tessera
