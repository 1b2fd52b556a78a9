// The arithmetic of buffers, one or more of each destination.
#pragma once

#include <cstdint>

namespace tessera {

/// The buffers that each destination has for a number of messages that go to destinations at
/// random: an eighth more than its share, in whole buffers. What is beyond has to wait.
struct BufferShape {
  std::int64_t buffer_messages = 1;  ///< that fit in one buffer
  std::int64_t buffers = 1;          ///< of a destination

  std::int64_t messages() const { return buffers * buffer_messages; }

  /// Of so many messages for so many destinations. @param message_bytes that divide buffer_bytes
  static BufferShape of(std::int64_t messages, int destinations, std::int64_t buffer_bytes,
                        int message_bytes) {
    const std::int64_t in_one = buffer_bytes / message_bytes;
    const std::int64_t share = (messages + destinations - 1) / destinations;
    const std::int64_t room = share + share / 8;
    return {.buffer_messages = in_one, .buffers = room / in_one + 1};
  }
  /// Buffers that so many messages of a destination take.
  std::int64_t used(std::int64_t messages) const {
    return (messages + buffer_messages - 1) / buffer_messages;
  }
};

/// The powers of 2 that divide a table of entries among destinations: entry e is of destination
/// e >> shift.
constexpr int destination_shift(std::int64_t entries, int destinations) {
  int shift = 0;
  while ((std::int64_t{1} << shift) * destinations < entries) ++shift;
  return shift;
}

}  // namespace tessera
