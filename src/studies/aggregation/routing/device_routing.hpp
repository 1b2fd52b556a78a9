// Updates of a table that go to destinations in buffers, all in one GPU.
#pragma once

#include <cstdint>

#include "solvers/memory/device.hpp"
#include "solvers/memory/device_array.hpp"
#include "src/studies/aggregation/message_totals.hpp"
#include "src/studies/aggregation/routing/buffer_shape.hpp"

namespace tessera {

/// How messages get into the buffers of their destinations.
enum class RoutingScheme {
  direct,         ///< a block reserves once for each destination of its threads, which write there
  indirect,       ///< blocks append all to one queue, which a second kernel sorts into the buffers
  counting_sort,  ///< blocks sort tiles in shared memory, reserve and write run by run
  radix_sort      ///< all are written, and sorted by destination
};

/// Updates with places by a hash of their numbers, and where they go.
struct RoutingWork {
  RoutingScheme scheme = RoutingScheme::direct;
  std::int64_t updates = 0;
  int destinations = 2;              ///< a power of 2, at most 64
  std::int64_t buffer_bytes = 1024;  ///< of 8-byte messages; at most 256 kB
  std::uint64_t seed = 1;
  /// all: places in the whole table; first: all in that of the first destination.
  enum class To { all, first } to = To::all;
};

/// A table that is divided among destinations, their buffers, and a clock. Updates go in rounds: of
/// those at hand each goes into a buffer of its destination; those that find all of its buffers
/// full wait in a list for the next round. Then the buffers go: a block for each adds 1 at the
/// places in it.
class DeviceRouting {
 public:
  /// @param entries of the table, a power of 2 from 2^8 to 2^32 @param updates of a run at most
  /// @param round updates that are made at a time @throws DeviceOutOfMemory
  DeviceRouting(std::int64_t entries, std::int64_t updates, std::int64_t round);

  /// Seconds until all updates are in the table.
  double seconds(const RoutingWork& work);

  struct Counted {
    MessageVerdict messages;
    double buffers = 0.0;    // that went
    double mean_fill = 0.0;  // of these
    double rounds = 0.0;
  };
  /// One more run, outside of any timing, of which everything is counted.
  Counted count(const RoutingWork& work);

 private:
  struct Source;
  struct Counting;
  void route_all(const RoutingWork& work, Counting* counting);
  void route(const RoutingWork& work, const BufferShape& shape, const Source& source);
  void sort_all(const RoutingWork& work, const Source& source);
  void deliver(const RoutingWork& work, const BufferShape& shape, Counting* counting);
  std::int64_t waiting();

  int bits_;            // log2 of the table's entries
  std::int64_t round_;  // updates
  std::int64_t updates_;
  DeviceArray<unsigned> table_;
  DeviceArray<unsigned long long> buffers_;
  DeviceArray<unsigned long long> queue_;      // of messages on their way to the buffers
  DeviceArray<unsigned long long> waiting_;    // for the next round
  DeviceArray<unsigned long long> returning_;  // of the last round
  DeviceArray<unsigned long long> sizes_;      // of destinations; then of the queue, of waiting
  DeviceArray<unsigned long long> starts_;     // of destinations, where they are sorted
  DeviceArray<char> scratch_;                  // of the sort
  DeviceStopwatch stopwatch_;
};

}  // namespace tessera
