// Additions of GPU threads to shared entries of a table.
#pragma once

#include <cstdint>

#include "solvers/memory/device.hpp"
#include "solvers/memory/device_array.hpp"

namespace tessera {

/// How a GPU thread adds 1.
enum class DeviceAddition {
  atomic,         ///< atomicAdd() whose result nobody waits for
  atomic_result,  ///< atomicAdd() whose result is used
  cas,            ///< a loop of compare-and-swap
  warp_sums,      ///< threads of a warp that share an entry sum first
  block_sums,     ///< threads of a block that share an entry sum first, in shared memory
  unprotected     ///< load, add, store
};

/// Which threads share an entry.
enum class SharedBy { neighbors, distant_blocks };

/// Which entry each of n threads adds to: the n / m groups of m threads each, neighbors or n / m
/// threads apart, are spread over the table; where it has fewer entries, groups share them, too.
/// All numbers are powers of 2, n at least 256.
struct AdditionPlaces {
  std::int64_t additions = 1;      // n
  std::int64_t sharing = 1;        // m
  std::int64_t table_entries = 1;  // doubles
  SharedBy shared_by = SharedBy::neighbors;

  std::int64_t groups() const { return additions / sharing; }
  std::int64_t used_entries() const { return groups() < table_entries ? groups() : table_entries; }
};

/// A table in GPU memory, and a clock.
class DeviceAdditions {
 public:
  /// @throws DeviceOutOfMemory
  explicit DeviceAdditions(std::int64_t table_entries);

  /// Seconds of all additions to a table of zeros.
  double seconds(DeviceAddition addition, const AdditionPlaces& places);

  /// What the last additions made of the table.
  struct Result {
    double missing = 0.0;        // additions that are not in it
    double wrong_entries = 0.0;  // that do not hold their number of additions
  };
  Result result(const AdditionPlaces& places);

 private:
  DeviceArray<double> table_;
  DeviceArray<double> sums_;
  DeviceStopwatch stopwatch_;
};

}  // namespace tessera
