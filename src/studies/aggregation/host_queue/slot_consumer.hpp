// Host threads that empty a queue of slots into buffers.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <type_traits>
#include <vector>

#include "src/studies/aggregation/host_queue/slot_queue.hpp"
#include "src/studies/aggregation/message_totals.hpp"

namespace tessera {

/// How a thread of the host adds, loads and stores what other processors see.
struct HostMemory {
  template <class T>
  static T add(T* value, std::type_identity_t<T> more) {
    return std::atomic_ref(*value).fetch_add(more, std::memory_order_relaxed);
  }
  template <class T>
  static T load(const T* value) {
    return std::atomic_ref(*const_cast<T*>(value)).load(std::memory_order_acquire);
  }
  template <class T>
  static void store(T* value, std::type_identity_t<T> what) {
    std::atomic_ref(*value).store(what, std::memory_order_release);
  }
};

/// A queue as a consumer sees it.
struct QueueOutlet {
  std::uint64_t* next_read = nullptr;    ///< tickets that consumers have drawn
  SlotFlags* flags = nullptr;            ///< [slots]
  const std::uint64_t* words = nullptr;  ///< [slots][slot_words]
  std::uint32_t slots = 0;
  std::size_t slot_words = 0;
  std::uint64_t packages = 0;         ///< slots that are filled in all
  std::uint32_t* given_up = nullptr;  ///< set to 1 when somebody waits no longer; then all stop
};

/// When a consumer's buffer goes.
struct BufferRule {
  std::size_t words = 0;                 ///< when so much is in it; at least a slot's
  std::chrono::microseconds timeout{0};  ///< or when its first slot is as old, while it waits
  std::chrono::seconds patience{10};     ///< after which a consumer gives up
};

/// What a consumer has done.
struct ConsumerCounts {
  std::uint64_t buffers = 0;
  std::uint64_t words = 0;  ///< in these
  double polling_s = 0.0;
  double seconds = 0.0;
};

/// Takes the words of a buffer that goes, slot by slot.
using SendBuffer = std::function<void(std::span<const std::uint64_t>)>;

/// Empties slots, as long as packages are left, into a buffer of its own. It does not throw unless
/// send() does, once the buffer is there. @param buffer of at least rule.words
ConsumerCounts consume(const QueueOutlet& queue, const BufferRule& rule,
                       std::span<std::uint64_t> buffer, const SendBuffer& send);

/// Words of a message: its number, and what goes with that. A slot has them by columns: word w of
/// message m is at [w * messages + m].
constexpr std::uint64_t message_word(std::uint64_t number, std::uint64_t word) {
  return number ^ (word * 0x9e3779b97f4a7c15U);
}

/// Counts the messages of slots that several threads send.
class HostMessageCheck {
 public:
  /// @param words of a message
  HostMessageCheck(std::uint64_t messages, std::size_t words, std::size_t messages_per_slot);

  /// Notes the messages of whole slots; threads may call it at the same time.
  void note(std::span<const std::uint64_t> slots);
  MessageVerdict verdict() const;

 private:
  std::size_t words_;
  std::size_t messages_per_slot_;
  std::vector<std::uint8_t> marks_;
  std::atomic<unsigned long long> count_{0};
  std::atomic<unsigned long long> sum_{0};
  std::atomic<unsigned long long> exclusive_or_{0};
  std::atomic<unsigned long long> strange_{0};
};

}  // namespace tessera
