// Long work is asked to stop, and asks whether it should, through these functions.
#pragma once

#include <atomic>
#include <exception>

namespace tessera {

/// Thrown between two stages of long work that was asked to stop.
class Interrupted : public std::exception {
 public:
  const char* what() const noexcept override { return "interrupted"; }
};

namespace internal {
inline std::atomic<bool> stop_is_requested{false};
static_assert(std::atomic<bool>::is_always_lock_free, "signal handlers need it");
}  // namespace internal

/// Asks all long work of the process to stop at its next stage; may be called by signal handlers.
inline void request_stop() noexcept { internal::stop_is_requested = true; }

/// Lets later work run to its end; call this when the work that was asked to stop has stopped.
inline void withdraw_stop_request() noexcept { internal::stop_is_requested = false; }

inline bool stop_requested() noexcept {
  return internal::stop_is_requested.load(std::memory_order_relaxed);
}

/// Call this between the stages of work that may take seconds. @throws Interrupted
inline void stop_if_requested() {
  if (stop_requested()) throw Interrupted();
}

}  // namespace tessera
