// These functions share the cells of a case out among ranks.
#pragma once

#include <stdexcept>
#include <string>

#include "mesh/partition/box_partition.hpp"
#include "src/case/setup.hpp"
#include "src/parameters/case_parameters.hpp"

namespace tessera {

/// The number of processes does not go with the case.
class UnsuitableRanks : public std::invalid_argument {
 public:
  UnsuitableRanks(std::string key, const std::string& message)
      : std::invalid_argument(message), key_(std::move(key)) {}
  /// The key of the case that it does not go with.
  const std::string& key() const { return key_; }

 private:
  std::string key_;
};

/// The first of the case's levels that every rank has as a whole, never the finest: that which is
/// small enough, or the last one no cell of which a partition cuts. Their number if there is none.
std::size_t first_gathered_level(const CaseParameters& parameters, const BoxPartition& partition);

/// The part of each rank in a grid by `[run] ranks`, or the one of the least exchange between the
/// processes of one host or of several: slabs within one host, nearly cubes over a network. Where
/// the case has multigrid, parts are cut where the coarser meshes are cut as well, down to the
/// first gathered one.
/// @throws UnsuitableRanks if the grid has another number of ranks, there are not enough cells,
/// also
///         of the first coarser level, or the case names what one process computes alone
BoxPartition case_partition(const CaseParameters& parameters, int ranks, int hosts = 1);

}  // namespace tessera
