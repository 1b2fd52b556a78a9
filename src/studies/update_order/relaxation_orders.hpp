// A relaxation order says in which order blocks of rows are updated in place.
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "mesh/index.hpp"

namespace tessera {

enum class RelaxationOrder {
  queue,           ///< block after block, sweep after sweep, by whoever is free
  queue_reversed,  ///< the same with the last block of a sweep first
  queue_random,    ///< the same, shuffled anew for each sweep
  hardware,        ///< each sweep apart; on a GPU a launch with a thread block for each
  synchronous,     ///< all blocks see the values of the sweep before
  sequential       ///< block Gauss-Seidel: one thread, or thread block, alone
};

/// A row of the table of orders.
struct RelaxationOrderInfo {
  RelaxationOrder order;
  std::string name;
  /// Whether runs differ.
  enum class Runs { vary, same } runs;
  /// Whether a sweep may begin before the one before it has ended.
  enum class Sweeps { overlap, apart } sweeps;
};
[[nodiscard]] const std::vector<RelaxationOrderInfo>& relaxation_orders();

/// The blocks of so many sweeps in the order in which a queue holds them.
/// @param order one with a queue, or sequential @param random which only queue_random draws from
[[nodiscard]] std::vector<std::int32_t> queued_blocks(RelaxationOrder order, Index blocks,
                                                      int sweeps, std::mt19937_64& random);

}  // namespace tessera
