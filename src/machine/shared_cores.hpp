// These functions find out whether other programs use the cores, and make threads wait accordingly.
#pragma once

namespace tessera {

/// How threads of OpenMP wait for each other.
enum class Waiting {
  as_always,  ///< as OMP_WAIT_POLICY says, by default for some milliseconds at work
  asleep      ///< asleep at once: others use the cores
};

/// Whether more is about to run than there are cores, if this process runs a thread on each that it
/// may use.
/// @param load_file as /proc/loadavg: what has run on the mean of a minute, and what would run now
bool would_share_cores(const char* load_file = "/proc/loadavg");

/// Begins the program anew with threads that wait asleep where would_share_cores(), and returns how
/// threads wait in this one. A thread that waits at work takes the core of the one that it waits
/// for: a solve of some milliseconds can take seconds. libgomp reads how to wait before main().
/// Nothing is changed where OMP_WAIT_POLICY or GOMP_SPINCOUNT is set, or a launcher started several
/// processes. To be called before any other thread, file or output is there.
Waiting choose_waiting(char** argv);

/// What choose_waiting() has returned.
Waiting chosen_waiting();

}  // namespace tessera
