// This function takes the mean widths of cells of the whole mesh, of which ranks have parts.
#pragma once

#include "mesh/discretization.hpp"
#include "operators/ranks/rank_part.hpp"

namespace tessera {

/// mean_cell_widths() of the whole, of the same cells and with the same bits; all ranks call it
/// together.
/// @param discretization that of the rank's part
Point mean_cell_widths(const Discretization& discretization, const RankPart& part);

}  // namespace tessera
