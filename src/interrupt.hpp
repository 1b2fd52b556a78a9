#pragma once

namespace tessera {

/// Lets the first SIGINT or SIGTERM only be noted, so that the run can write what it has; the
/// second ends the process as usual. Ends with the object.
class InterruptGuard {
 public:
  InterruptGuard();
  ~InterruptGuard();
  InterruptGuard(const InterruptGuard&) = delete;
  InterruptGuard& operator=(const InterruptGuard&) = delete;
};

/// Whether a signal was noted since the last guard was made.
bool interrupted();

}  // namespace tessera
