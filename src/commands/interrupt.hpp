// An InterruptGuard turns signals into requests to stop.
#pragma once

namespace tessera {

/// While it is there, the first SIGINT or SIGTERM asks all work to stop (solvers/interruption.hpp),
/// so that a command can write what it has; the next one, a moment later at the earliest, removes
/// what is half written and ends the process with exit code 130. Signals that the process was
/// started to ignore stay ignored.
class InterruptGuard {
 public:
  InterruptGuard();
  ~InterruptGuard();
  InterruptGuard(const InterruptGuard&) = delete;
  InterruptGuard& operator=(const InterruptGuard&) = delete;
};

/// Whether a signal came since the guard was made, whatever became of the request to stop.
bool interrupted();

}  // namespace tessera
