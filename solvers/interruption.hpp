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
inline std::atomic<bool> iteration_stop_is_requested{false};
inline std::atomic<int> unstoppable_works{0};
static_assert(std::atomic<bool>::is_always_lock_free, "signal handlers need it");
}  // namespace internal

/// Asks iterations of this process to stop, which tell the processes that iterate with it; may be
/// called by signal handlers.
inline void request_iteration_stop() noexcept { internal::iteration_stop_is_requested = true; }

/// Asks all long work of the process to stop at its next stage; may be called by signal handlers.
inline void request_stop() noexcept {
  internal::stop_is_requested = true;
  request_iteration_stop();
}

/// Lets later work run to its end; call this when the work that was asked to stop has stopped.
inline void withdraw_stop_request() noexcept {
  internal::stop_is_requested = false;
  internal::iteration_stop_is_requested = false;
}

/// While there is one, nothing of the process stops; what asks it to is obeyed afterwards.
class UnstoppableWork {
 public:
  UnstoppableWork() { ++internal::unstoppable_works; }
  ~UnstoppableWork() { --internal::unstoppable_works; }
  UnstoppableWork(const UnstoppableWork&) = delete;
  UnstoppableWork& operator=(const UnstoppableWork&) = delete;
};

inline bool stop_requested() noexcept {
  return internal::stop_is_requested.load(std::memory_order_relaxed) &&
         internal::unstoppable_works.load(std::memory_order_relaxed) == 0;
}

/// What the observer of an iteration asks. Of several processes one may be asked to stop alone.
inline bool iteration_stop_requested() noexcept {
  return internal::iteration_stop_is_requested.load(std::memory_order_relaxed) &&
         internal::unstoppable_works.load(std::memory_order_relaxed) == 0;
}

/// Call this between the stages of work that may take seconds. @throws Interrupted
inline void stop_if_requested() {
  if (stop_requested()) throw Interrupted();
}

}  // namespace tessera
