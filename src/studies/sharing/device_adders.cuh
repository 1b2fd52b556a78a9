// These functions add to entries in GPU memory that other threads may be adding to.
#pragma once

namespace tessera {

/// A loop of compare-and-swap.
__device__ inline void add_by_cas(double* entry, double value) {
  auto* const bits = reinterpret_cast<unsigned long long*>(entry);
  unsigned long long before = *bits;
  unsigned long long seen;
  do {
    seen = before;
    before = atomicCAS(
        bits, seen,
        static_cast<unsigned long long>(__double_as_longlong(__longlong_as_double(seen) + value)));
  } while (before != seen);
}

/// Loses what another thread adds between its load and its store.
__device__ inline void add_unprotected(double* entry, double value) {
  volatile double* const plain = entry;
  *plain = *plain + value;
}

}  // namespace tessera
