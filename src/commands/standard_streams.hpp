// These functions write to stdout and stderr, which may be closed or full.
#pragma once

#include <fmt/format.h>

#include <string_view>
#include <utility>

#include "src/commands.hpp"

namespace tessera {

/// To be called first in main(): a standard stream that is closed gets /dev/null the wrong way
/// round, so that no file of ours takes its number and writing to it goes on failing. Writing files
/// beyond a limit of their size fails from then on, rather than to end the process.
void prepare_standard_streams();

/// Whether this process writes to its standard streams, or leaves that to another one that computes
/// the same case.
enum class Voice { speaks, is_silent };
void set_voice(Voice voice) noexcept;

/// Writes to a pipe that nobody reads fail from then on, rather than to end the process.
void ignore_broken_pipes();

/// Writes to stdout at once. A failing stream is remembered, never thrown: what is said about a
/// result must not cost the result.
void write_stdout(std::string_view text) noexcept;

/// Writes to stderr, if it takes it.
void write_stderr(std::string_view text) noexcept;

/// Why the first write to stdout failed that did, as errno; 0 if none did. Flushes.
int stdout_error() noexcept;

/// The exit code of a command that has nothing but stdout: no_resources for a success that could
/// not be written there.
ExitCode unless_stdout_is_lost(ExitCode code) noexcept;

/// As if a write to stdout had failed so; only the first counts.
void remember_stdout_error(int error) noexcept;

template <class... Arguments>
void print_out(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
  write_stdout(fmt::format(format, std::forward<Arguments>(arguments)...));
}

template <class... Arguments>
void print_err(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
  write_stderr(fmt::format(format, std::forward<Arguments>(arguments)...));
}

}  // namespace tessera
