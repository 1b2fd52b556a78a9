// These functions print how processes would share a case.
#pragma once

#include "mesh/partition/box_partition.hpp"
#include "operators/form/kernel_info.hpp"
#include "src/case/setup.hpp"

namespace tessera {

/// The processes that a case is checked for.
struct CheckedRanks {
  BoxPartition partition;
  /// The case as the rank with the largest part has it.
  CaseParameters part;
  int largest;
  /// Of each process, if all run on this host.
  int threads;
};

/// Shares the case out. @param ranks at least 1
/// @throws UnsuitableRanks if the number does not suit the case
CheckedRanks share_out(const CaseParameters& parameters, int ranks);

/// Prints the grid of ranks, the cells and DoFs of parts, and how efficient the ranks are foreseen
/// to be.
void print_ranks(const CaseParameters& parameters, const StrategyName& strategy,
                 const CheckedRanks& ranks);

/// Prints the memory of a rank, and of all on one host. @param rank_bytes at most at a time
void print_rank_memory(int ranks, Index rank_bytes, Index available);

}  // namespace tessera
