// These functions split a range of indices among threads.
#pragma once

#include <omp.h>

#include "mesh/first_failure.hpp"
#include "mesh/index.hpp"

namespace tessera {

/// A half-open range of indices.
struct Range {
  Index begin;
  Index end;

  Index size() const { return end - begin; }
};

/// Part `part` of `parts` of [0, n): parts are contiguous, and their sizes differ by at most one.
constexpr Range partition(Index n, Index part, Index parts) {
  const Index quotient = n / parts;
  const Index rest = n % parts;
  const Index begin = part * quotient + (part < rest ? part : rest);
  return {begin, begin + quotient + (part < rest ? 1 : 0)};
}

/// Calls f(Range) once on each OpenMP thread with that thread's part of [0, n): the one static
/// split that vectors, meshes and operators share, so that pages are first touched where they are
/// used. If parts throw, the exception of the lowest one is rethrown.
template <class F>
void parallel_ranges(Index n, F&& f) {
  FirstFailure failure;
#pragma omp parallel
  {
    const int part = omp_get_thread_num();
    failure.guard(part, [&] { f(partition(n, part, omp_get_num_threads())); });
  }
  failure.rethrow();
}

}  // namespace tessera
