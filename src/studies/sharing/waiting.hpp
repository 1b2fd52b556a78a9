// Threads wait for each other by these means.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>

namespace tessera {

/// Tells the core that this thread only waits, for some ten cycles or more.
inline void pause_core() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

/// Random waits whose longest doubles from one to the next: threads that met do not meet again.
class Backoff {
 public:
  /// @param seed that differs from thread to thread
  explicit Backoff(std::uint64_t seed = 1) : state_(seed * 2 + 1) {}

  /// Waits for a random time from 1 to the longest, in pauses of the core, and doubles the longest.
  void wait() {
    const std::uint32_t pauses = 1 + random() % longest_;
    for (std::uint32_t i = 0; i < pauses; ++i) pause_core();
    longest_ = std::min(2 * longest_, kLongest);
  }
  /// The next wait is a first one.
  void reset() { longest_ = kFirst; }
  std::uint32_t longest() const { return longest_; }

 private:
  static constexpr std::uint32_t kFirst = 4;
  static constexpr std::uint32_t kLongest = 1024;

  // xorshift64*
  std::uint32_t random() {
    state_ ^= state_ >> 12U;
    state_ ^= state_ << 25U;
    state_ ^= state_ >> 27U;
    return static_cast<std::uint32_t>((state_ * 0x2545f4914f6cdd1dU) >> 32U);
  }

  std::uint64_t state_;
  std::uint32_t longest_ = kFirst;
};

/// A lock of one word that waits by reading it: test, then test-and-set.
class SpinLock {
 public:
  bool try_lock() { return !is_taken() && !taken_.exchange(true, std::memory_order_acquire); }
  void lock() {
    while (!try_lock()) pause_core();
  }
  void unlock() { taken_.store(false, std::memory_order_release); }
  bool is_taken() const { return taken_.load(std::memory_order_relaxed); }

 private:
  std::atomic<bool> taken_{false};
};

}  // namespace tessera
