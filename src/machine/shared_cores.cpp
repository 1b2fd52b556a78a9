// This file looks at the load of the machine before threads begin.
#include "src/machine/shared_cores.hpp"

#include <sched.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "solvers/ranks/launched_processes.hpp"

namespace tessera {
namespace {

constexpr char kPolicy[] = "OMP_WAIT_POLICY";
// Tells the program that begins anew that it has done so.
constexpr char kMark[] = "TESSERA_WAITS";
constexpr char kAsleep[] = "asleep";
// A program that has run for less of the last minute has ended or will soon.
constexpr double kLeastLoad = 0.5;

bool is_marked() {
  const char* const mark = std::getenv(kMark);
  return mark != nullptr && std::strcmp(mark, kAsleep) == 0;
}

}  // namespace

bool would_share_cores(const char* load_file) {
  std::FILE* const file = std::fopen(load_file, "r");
  if (file == nullptr) return false;
  double load = 0.0;
  long running = 0;
  const int found = std::fscanf(file, "%lf %*f %*f %ld/", &load, &running);
  std::fclose(file);
  cpu_set_t mine;
  CPU_ZERO(&mine);
  if (found != 2 || sched_getaffinity(0, sizeof mine, &mine) != 0) return false;
  // This process is one of those that run.
  const long others = running - 1;
  return load >= kLeastLoad && others + CPU_COUNT(&mine) > sysconf(_SC_NPROCESSORS_ONLN);
}

Waiting choose_waiting(char** argv) {
  if (is_marked()) return Waiting::asleep;
  if (std::getenv(kPolicy) != nullptr || std::getenv("GOMP_SPINCOUNT") != nullptr ||
      launched_processes() > 1 || !would_share_cores()) {
    return Waiting::as_always;
  }
  setenv(kPolicy, "passive", 1);
  setenv(kMark, kAsleep, 1);
  execv("/proc/self/exe", argv);
  // Here the program could not begin anew.
  unsetenv(kPolicy);
  unsetenv(kMark);
  return Waiting::as_always;
}

Waiting chosen_waiting() { return is_marked() ? Waiting::asleep : Waiting::as_always; }

}  // namespace tessera
