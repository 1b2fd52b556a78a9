// This file reads the process's memory high-water mark.
#include "src/machine/peak_memory.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>

namespace tessera {
namespace {

std::int64_t peak_before_reset = 0;

std::int64_t resident_now() {
  std::int64_t pages = 0;
  std::int64_t resident = 0;
  std::ifstream("/proc/self/statm") >> pages >> resident;
  return resident * sysconf(_SC_PAGESIZE);
}

// Before main().
const std::int64_t kResidentAtStart = resident_now();

std::int64_t marked_peak() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return std::int64_t{usage.ru_maxrss} * 1024;
}

}  // namespace

std::int64_t peak_resident_bytes() { return std::max(peak_before_reset, marked_peak()); }

std::int64_t program_bytes() {
  // Buffers of output, threads' first pages, parts of the code.
  constexpr std::int64_t kLaterBytes = 9 << 20;
  return kResidentAtStart + kLaterBytes;
}

UncountedMemory::UncountedMemory() { peak_before_reset = peak_resident_bytes(); }

UncountedMemory::~UncountedMemory() {
  // 5 sets the mark to what is held now (man 5 proc).
  std::ofstream("/proc/self/clear_refs") << 5;
}

}  // namespace tessera
