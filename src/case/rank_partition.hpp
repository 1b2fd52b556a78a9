// These functions share the cells of a case out among ranks.
#pragma once

#include <array>

#include "mesh/partition/box_partition.hpp"
#include "src/parameters/case_parameters.hpp"

namespace tessera {

/// The part of each rank: for a box mesh that the preconditioner's hierarchy coarsens, cut where
/// the coarser meshes are cut as well.
/// @throws std::invalid_argument in a user's words, if there are not enough cells
BoxPartition case_partition(const CaseParameters& parameters, int ranks);

}  // namespace tessera
