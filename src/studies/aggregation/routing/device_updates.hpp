// Increments of 8 bytes at random places of a table in GPU memory (GUPS).
#pragma once

#include <cstdint>
#include <string>

#include "solvers/memory/device.hpp"
#include "solvers/memory/device_array.hpp"

namespace tessera {

/// In which order updates meet the table.
enum class UpdateOrder {
  direct,  ///< as they come, by atomic additions
  sorted,  ///< sorted by the highest 8 bits of their places
  binned   ///< in 256 bins by these bits, filled by blocks that sort tiles
};

/// A table, updates of it that a hash of their numbers places, and a clock.
class DeviceUpdates {
 public:
  /// @param entries of the table, a power of 2 from 2^8 to 2^32 @param updates of a run
  /// @throws DeviceOutOfMemory
  DeviceUpdates(std::int64_t entries, std::int64_t updates, std::uint64_t seed);

  /// Seconds of all updates of a table of zeros, made from their numbers.
  double seconds(UpdateOrder order);

  /// What is wrong with the table after the last run: the sum of its entries is the number of
  /// updates, and the sum of entry times a hash of its place that of these hashes over all updates.
  /// Empty if nothing is.
  std::string wrong();

  /// Bytes that an object takes while it makes updates of any order.
  static std::int64_t bytes(std::int64_t entries, std::int64_t updates);

 private:
  void add_directly();
  void add_sorted();
  void add_binned();

  std::int64_t updates_;
  std::uint64_t seed_;
  int bits_;  // log2 of the table's entries
  DeviceArray<unsigned long long> table_;
  DeviceArray<unsigned> places_;  // of updates; the bins
  DeviceArray<unsigned> sorted_places_;
  DeviceArray<unsigned long long> sizes_;  // of the bins
  DeviceArray<char> scratch_;              // of the sort
  DeviceArray<unsigned long long> sums_;
  DeviceStopwatch stopwatch_;
};

}  // namespace tessera
