// This file installs the signal handlers of an interruptible command.
#include "src/commands/interrupt.hpp"

#include <signal.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdint>

#include "postprocess/files/unfinished_paths.hpp"
#include "solvers/interruption.hpp"
#include "src/commands.hpp"

namespace tessera {
namespace {

// mpirun passes SIGUSR1 on, and leaves a program that gets it the time that it needs.
constexpr int kSignals[] = {SIGINT, SIGTERM, SIGUSR1};
// `timeout` and some batch systems send a signal to the process and to its group at once: those two
// are one.
constexpr std::int64_t kOneSignalNanoseconds = 100'000'000;

std::atomic<std::int64_t> first_signal_time{0};
std::atomic<bool> stops_at_once{true};
static_assert(std::atomic<std::int64_t>::is_always_lock_free, "signal handlers need it");

// Never 0.
std::int64_t now() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * std::int64_t{1'000'000'000} + time.tv_nsec + 1;
}

extern "C" void note_signal(int) {
  const int error = errno;
  std::int64_t first = 0;
  const std::int64_t time = now();
  if (first_signal_time.compare_exchange_strong(first, time)) {
    if (stops_at_once) {
      request_stop();
    } else {
      request_iteration_stop();
    }
  } else if (time - first > kOneSignalNanoseconds) {
    remove_unfinished_paths();
    _exit(static_cast<int>(ExitCode::interrupted));
  }
  errno = error;
}

}  // namespace

InterruptGuard::InterruptGuard(StopRequests requests) {
  first_signal_time = 0;
  stops_at_once = requests == StopRequests::at_once;
  withdraw_stop_request();
  for (const int signal : kSignals) {
    struct sigaction before {};
    sigaction(signal, nullptr, &before);
    if (before.sa_handler == SIG_IGN) continue;
    struct sigaction action {};
    action.sa_handler = note_signal;
    action.sa_flags = SA_RESTART;
    sigaction(signal, &action, nullptr);
  }
}

InterruptGuard::~InterruptGuard() {
  for (const int signal : kSignals) {
    struct sigaction now_set {};
    sigaction(signal, nullptr, &now_set);
    if (now_set.sa_handler == note_signal) ::signal(signal, SIG_DFL);
  }
  withdraw_stop_request();
}

bool interrupted() { return first_signal_time != 0; }

void agree_on_stop(const Communicator& ranks) {
  if (ranks.size() == 1 || !ranks.any(interrupted())) return;
  std::int64_t none = 0;
  first_signal_time.compare_exchange_strong(none, now());
  request_stop();
}

}  // namespace tessera
