// GPU blocks that fill slots of a queue in page-locked memory of the host.
#pragma once

#include <cstdint>

#include "solvers/memory/cuda_owners.hpp"
#include "solvers/memory/device_array.hpp"
#include "src/studies/aggregation/host_queue/slot_consumer.hpp"

namespace tessera {

/// A queue from the GPU to the host: slots of 256 messages, by columns, in page-locked memory. A
/// block fills a slot: its first thread draws the ticket and waits for the slot's turn, all write,
/// and the first thread publishes.
class DeviceProducers {
 public:
  static constexpr int kSlotMessages = 256;  // a thread each

  /// @param message_bytes a multiple of 8 @param queue_bytes at least those of two slots
  /// @throws DeviceError, DeviceOutOfMemory
  DeviceProducers(int message_bytes, std::int64_t queue_bytes);

  /// Empties the queue for the next run; waits for the GPU. @throws DeviceError
  void reset();
  /// Fills all of them, and returns when it is done or when a consumer has given up.
  /// @throws DeviceError
  void produce(std::uint64_t packages);
  /// The side of the consumers, for a run of so many slots.
  QueueOutlet outlet(std::uint64_t packages);
  /// Tells everybody to stop.
  void give_up();

  std::int64_t slot_bytes() const { return slot_words_ * 8; }

 private:
  std::int64_t slot_words_;
  std::uint32_t slots_;
  Pinned flags_;
  Pinned words_;
  Pinned given_up_;
  DeviceArray<std::uint64_t> next_written_;
  std::uint64_t next_read_ = 0;
};

/// Seconds of a copy of so many bytes from the GPU to page-locked memory, again and again.
class PinnedCopy {
 public:
  explicit PinnedCopy(std::int64_t bytes);
  double seconds();

 private:
  DeviceArray<char> from_;
  Pinned to_;
  DeviceStopwatch stopwatch_;
};

}  // namespace tessera
