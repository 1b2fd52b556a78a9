// Appends of GPU threads of which most have nothing to append (GUPS-mod).
#pragma once

#include <cstdint>

#include "solvers/memory/device.hpp"
#include "solvers/memory/device_array.hpp"
#include "src/studies/aggregation/message_totals.hpp"

namespace tessera {

/// How threads that append different numbers of messages do it together.
enum class Divergence {
  predicated,   ///< all threads of a block go on as long as one has messages, and append as a block
  warp_append,  ///< each loops over its own; those of a warp that are together append together
  barrier       ///< as a block, at a barrier that threads leave after their last message
};

/// A queue that threads append to, and a clock. One thread in 20 has messages, from 1 to 32 of
/// them, by a hash of its number.
class DeviceDivergence {
 public:
  static constexpr int kMaxMessages = 32;  // of a thread

  /// @param threads a multiple of 256 @throws DeviceOutOfMemory
  DeviceDivergence(std::int64_t threads, std::uint64_t seed);

  /// Seconds of all appends to an empty queue.
  double seconds(Divergence way);

  /// What is in the queue after the last run.
  MessageVerdict verdict();

 private:
  std::int64_t threads_;
  std::uint64_t seed_;
  DeviceArray<unsigned> queue_;
  DeviceArray<unsigned long long> size_;
  DeviceStopwatch stopwatch_;
};

}  // namespace tessera
