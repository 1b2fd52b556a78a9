// An InterruptGuard turns signals into requests to stop.
#pragma once

#include "solvers/ranks/communicator.hpp"

namespace tessera {

/// Whether a signal is a request to stop at once, or one that all processes of a run, which must
/// take the same decisions, take together in agree_on_stop().
enum class StopRequests { at_once, agreed };

/// While it is there, the first SIGINT, SIGTERM or SIGUSR1 asks all work to stop
/// (solvers/interruption.hpp), so that a command can write what it has; the next one, a moment
/// later at the earliest, removes what is half written and ends the process with exit code 130.
/// Signals that the process was started to ignore stay ignored.
class InterruptGuard {
 public:
  explicit InterruptGuard(StopRequests requests = StopRequests::at_once);
  ~InterruptGuard();
  InterruptGuard(const InterruptGuard&) = delete;
  InterruptGuard& operator=(const InterruptGuard&) = delete;
};

/// Whether a signal came since the guard was made, whatever became of the request to stop.
bool interrupted();

/// Has all ranks stop if a signal came to one of them: all are then interrupted(). Called by all
/// together, between the stages of their work.
void agree_on_stop(const Communicator& ranks);

}  // namespace tessera
