// Additions to a number that other threads add to, too.
#pragma once

#include <atomic>

#include "src/studies/sharing/waiting.hpp"

namespace tessera {

/// One addition: entry += value.
struct Addition {
  double* entry;
  double value;
};

/// Loads, adds, stores: an addition of another thread in between is lost. Its behavior is defined,
/// unlike that of plain stores that race.
inline void add_unprotected(double& entry, double value) {
  const std::atomic_ref<double> shared(entry);
  shared.store(shared.load(std::memory_order_relaxed) + value, std::memory_order_relaxed);
}

/// Adds by compare-and-swap until no other thread comes in between, with random waits.
/// @return how often one did
inline int add_by_cas(double& entry, double value, Backoff& backoff) {
  const std::atomic_ref<double> shared(entry);
  double before = shared.load(std::memory_order_relaxed);
  int failures = 0;
  while (!shared.compare_exchange_weak(before, before + value, std::memory_order_relaxed)) {
    ++failures;
    backoff.wait();
    before = shared.load(std::memory_order_relaxed);
  }
  if (failures > 0) backoff.reset();
  return failures;
}

}  // namespace tessera
