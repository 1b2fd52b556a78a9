// This file writes to stdout and stderr without ever throwing.
#include "src/commands/standard_streams.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>

namespace tessera {
namespace {

int first_error = 0;
Voice own_voice = Voice::speaks;

}  // namespace

void remember_stdout_error(int error) noexcept {
  if (first_error == 0) first_error = error != 0 ? error : EIO;
}

void prepare_standard_streams() {
  for (const int descriptor : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (fcntl(descriptor, F_GETFD) >= 0 || errno != EBADF) continue;
    // It takes the lowest free number, which is this one.
    [[maybe_unused]] const int opened =
        open("/dev/null", descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY);
  }
  std::signal(SIGXFSZ, SIG_IGN);
}

void set_voice(Voice voice) noexcept { own_voice = voice; }

void ignore_broken_pipes() { std::signal(SIGPIPE, SIG_IGN); }

void write_stdout(std::string_view text) noexcept {
  if (first_error != 0 || own_voice == Voice::is_silent) return;
  errno = 0;
  const bool written = std::fwrite(text.data(), 1, text.size(), stdout) == text.size();
  if (!written || std::fflush(stdout) != 0) remember_stdout_error(errno);
}

void write_stderr(std::string_view text) noexcept {
  if (own_voice == Voice::is_silent) return;
  std::fwrite(text.data(), 1, text.size(), stderr);
}

int stdout_error() noexcept {
  errno = 0;
  if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) remember_stdout_error(errno);
  return first_error;
}

ExitCode unless_stdout_is_lost(ExitCode code) noexcept {
  const bool is_lost = stdout_error() != 0;
  return code == ExitCode::success && is_lost ? ExitCode::no_resources : code;
}

}  // namespace tessera
