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

constexpr int kSignals[] = {SIGINT, SIGTERM};
// `timeout` and some batch systems send a signal to the process and to its group at once: those two
// are one.
constexpr std::int64_t kOneSignalNanoseconds = 100'000'000;

std::atomic<std::int64_t> first_signal_time{0};
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
    request_stop();
  } else if (time - first > kOneSignalNanoseconds) {
    remove_unfinished_paths();
    _exit(static_cast<int>(ExitCode::interrupted));
  }
  errno = error;
}

}  // namespace

InterruptGuard::InterruptGuard() {
  first_signal_time = 0;
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

}  // namespace tessera
