// The order probe finds out in which order a GPU updates the components of a vector in place.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "mesh/index.hpp"

namespace tessera {

/// A vector of ones, of which each inner component becomes 0 if both of its neighbors are 1. One
/// that stays 1 was updated after a neighbor: an inconsistency.
enum class ProbeKernel {
  kernel0,  ///< into another vector: no component can see an update, so nothing may stay 1
  kernel1,  ///< in place
  kernel2   ///< in place in a copy of the block's part in shared memory, between two barriers
};

/// Through which cache neighbors are loaded: a line of the first-level one may be older than what
/// other multiprocessors have written.
enum class LoadPath { cached, l2 };

inline constexpr int kWarpSize = 32;
/// Components are counted by their number modulo this, a multiple of all block sizes.
inline constexpr int kProbePeriod = 256;

/// Inconsistencies of so many executions by component number modulo kProbePeriod.
using InconsistencyCounts = std::array<std::int64_t, kProbePeriod>;

/// Where in blocks and warps inconsistencies were. First and last components of a block are not
/// counted as those of a warp once more.
struct InconsistencyPlaces {
  std::int64_t block_first = 0;
  std::int64_t block_last = 0;
  std::int64_t warp_first = 0;
  std::int64_t warp_last = 0;
  std::int64_t elsewhere = 0;

  [[nodiscard]] std::int64_t all() const {
    return block_first + block_last + warp_first + warp_last + elsewhere;
  }
};

/// @param block threads of a block, which divides kProbePeriod
[[nodiscard]] InconsistencyPlaces places_of(const InconsistencyCounts& counts, int block);

/// "0:17 32:4": components with inconsistencies, and how many.
[[nodiscard]] std::string histogram_text(const InconsistencyCounts& counts);

/// When and where a block of threads started.
struct BlockStart {
  std::uint32_t ticket = 0;          ///< how many started before
  std::uint32_t multiprocessor = 0;  ///< on which
  std::uint64_t nanoseconds = 0;     ///< by the GPU's clock
};

/// In which order blocks started. Shares are of pairs of blocks with consecutive numbers.
struct StartOrder {
  std::int64_t pairs = 0;
  std::int64_t increasing = 0;           ///< the first took the lower ticket
  std::int64_t increasing_by_clock = 0;  ///< the first did not start later by the clock
  std::int64_t same_multiprocessor = 0;
  std::int64_t displacement = 0;  ///< the most by which a ticket differs from the block's number

  StartOrder& operator+=(const StartOrder& more);
};

/// The order of blocks first .. end - 1 of a launch, of which starts[block] is known.
[[nodiscard]] StartOrder start_order(std::span<const BlockStart> starts, Index first, Index end);

}  // namespace tessera
