// These functions measure how fast the CPU moves data and computes.
#pragma once

#include <vector>

#include "postprocess/timing/limit.hpp"
#include "src/machine/machine.hpp"

namespace tessera {

/// Bytes per second between the cores and the memory, from arrays that no cache holds.
struct Bandwidth {
  /// y = x, 16 bytes a value: x read, y written. The best of ordinary stores and stores past the
  /// caches; the first also read y from memory, which is not counted, as it is not in the cost
  /// models that this figure stands beside.
  double copy = 0.0;
  /// y = y + a x, 24 bytes a value: x and y read, y written. The mix of a scatter that adds.
  double update = 0.0;
  /// sum of x, 8 bytes a value. The mix of a product with a stored matrix.
  double read = 0.0;
};

/// Measures with OpenMP threads on arrays first touched by them, each twice as large as all L3
/// caches that the threads can reach, but at most 256 MiB or 32 MiB a thread, at least 64 MiB,
/// together at most a quarter of the available memory. The best of at least three repetitions;
/// takes about 0.3 s, longer where the memory of the arrays alone takes that long to get.
/// @param threads at least 1
/// @throws std::bad_alloc
Bandwidth measure_bandwidth(int threads);

/// The caches that so many threads reach, with what fits in them and without rates: L1 and L2 of a
/// core each, and L3, of which a thread counts on 32 MiB at most, since a virtual machine shows all
/// of its host's. A level that holds no more than the one before it is left out.
std::vector<CacheRate> cache_levels(const Machine& machine, int threads);

/// Bytes per second of each of these levels: the better of y = x and of a sum of x, each thread on
/// arrays of its own that take half of the level together. Takes about 10 ms a level.
/// @throws std::bad_alloc
std::vector<double> measure_caches(const std::vector<CacheRate>& levels, int threads);

/// Floating-point operations per second, two for a multiply-add.
struct FlopRates {
  double in_double = 0.0;
  double in_single = 0.0;
};

/// The peak of SIMD multiply-adds on so many threads, which have independent ones enough to hide
/// their latency. Takes about 10 ms for each precision.
FlopRates measure_flop_rates(int threads);

}  // namespace tessera
