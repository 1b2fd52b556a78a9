// These checks hold for every communicator, whatever its ranks are; all ranks call them.
#pragma once

#include "solvers/ranks/communicator.hpp"

namespace tessera::testing {

/// Sums, minima, maxima, gathers and broadcasts are those of all ranks, and sums have the bits of
/// the order of ranks.
void check_reductions(const Communicator& ranks);
/// Messages of many lengths, to one and to all neighbors in a ring and to all ranks.
void check_exchanges(const Communicator& ranks);
/// All ranks learn the worst code, and who has it.
void check_agreements(const Communicator& ranks);
/// Ranks that all fail know whether they do so in one place, again and again.
void check_failures(const Communicator& ranks);

}  // namespace tessera::testing
