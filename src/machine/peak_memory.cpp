// This file reads the process's memory high-water mark.
#include "src/machine/peak_memory.hpp"

#include <sys/resource.h>

#include <algorithm>
#include <fstream>

namespace tessera {
namespace {

std::int64_t peak_before_reset = 0;

std::int64_t marked_peak() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return std::int64_t{usage.ru_maxrss} * 1024;
}

}  // namespace

std::int64_t peak_resident_bytes() { return std::max(peak_before_reset, marked_peak()); }

UncountedMemory::UncountedMemory() { peak_before_reset = peak_resident_bytes(); }

UncountedMemory::~UncountedMemory() {
  // 5 sets the mark to what is held now (man 5 proc).
  std::ofstream("/proc/self/clear_refs") << 5;
}

}  // namespace tessera
