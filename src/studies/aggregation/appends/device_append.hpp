// Messages that GPU threads append to one array, one reservation a thread, a warp or a block.
#pragma once

#include <cstdint>

#include "solvers/memory/device.hpp"
#include "solvers/memory/device_array.hpp"
#include "src/studies/aggregation/message_totals.hpp"

namespace tessera {

/// Who reserves places together: each thread for itself, what is together of a warp, or a block.
enum class AppendLevel { lane, warp, block };

/// Threads of which some append a message each.
struct AppendWork {
  AppendLevel level = AppendLevel::block;
  /// Of a block: 64, 128, 256 or 1024; for lanes and warps 256.
  int block_threads = 256;
  /// Those that may append a message, each with its own number; a multiple of 1024.
  std::int64_t threads = 0;
  /// Of a message: 4, 8 or a multiple of 16.
  int bytes = 4;
  /// The share of the threads that append, as a number of 2^-32: 2^32 are all.
  std::uint64_t share = std::uint64_t{1} << 32;
  std::uint64_t seed = 1;
};

/// An array that messages are appended to, and a clock.
class DeviceAppend {
 public:
  /// @param bytes of the array @param threads at most @throws DeviceOutOfMemory
  DeviceAppend(std::int64_t bytes, std::int64_t threads);

  /// Seconds of the appends to an empty array.
  double seconds(const AppendWork& work);

  struct Counted {
    MessageVerdict messages;
    double reservations = 0.0;  // additions to the array's length
  };
  /// One more run, outside of any timing, of which everything is counted.
  Counted count(const AppendWork& work);

 private:
  void append(const AppendWork& work, unsigned long long* reservations);

  DeviceArray<char> array_;
  std::int64_t threads_;
  DeviceArray<unsigned long long> counters_;  // the array's length, reservations
  DeviceStopwatch stopwatch_;
};

}  // namespace tessera
