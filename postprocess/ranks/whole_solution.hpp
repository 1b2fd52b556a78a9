// These functions bring to rank 0 what each rank has a part of.
#pragma once

#include <optional>
#include <span>

#include "mesh/discretization.hpp"
#include "mesh/lanes/host_array.hpp"
#include "operators/ranks/rank_part.hpp"

namespace tessera {

/// The values at the nodes of the whole mesh, x fastest, on rank 0; nothing elsewhere. All ranks
/// call it together, and send rank 0 a MiB at a time.
/// @param values at the part's nodes, with the same bits where ranks share them
/// @throws std::bad_alloc on all ranks where rank 0 has no room for them
HostArray<double> gather_values(const RankPart& part, std::span<const double> values);

/// The space of which each rank has a part, on rank 0; nothing elsewhere. Grid lines, and positions
/// of nodes, have the bits that they have in the parts. All ranks call it together.
/// @param space the part's @throws std::bad_alloc on all ranks
std::optional<Discretization> gather_space(const RankPart& part, const Discretization& space);

/// Bytes of both on rank 0.
Index gathered_solution_bytes(const NodeLattice& whole, bool is_mapped);

}  // namespace tessera
