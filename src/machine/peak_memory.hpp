// These functions tell the most memory that the process has held.
#pragma once

#include <cstdint>

namespace tessera {

/// The most memory that the process has held so far, in bytes, without what was held while an
/// UncountedMemory lived.
std::int64_t peak_resident_bytes();

/// Memory taken in its lifetime and given back is no part of peak_resident_bytes(): for the test of
/// the bandwidth, whose arrays depend on the machine and not on the case. Where Linux does not let
/// the process reset its mark (/proc/self/clear_refs), the memory is counted.
class UncountedMemory {
 public:
  UncountedMemory();
  ~UncountedMemory();
  UncountedMemory(const UncountedMemory&) = delete;
  UncountedMemory& operator=(const UncountedMemory&) = delete;
};

}  // namespace tessera
