// This function prints the levels of a multigrid cycle as a table.
#pragma once

#include <string>
#include <vector>

#include "operators/multigrid/multigrid.hpp"

namespace tessera {

/// A table of the levels of a multigrid cycle: spaces, operators, memory and least traffic, this as
/// a share of the cycle's.
std::string level_table(const std::vector<LevelSummary>& levels, int dimension);

}  // namespace tessera
