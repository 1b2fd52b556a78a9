#pragma once

#include <omp.h>

#include <exception>

#include "mesh/index.hpp"

namespace tessera {

/// A half-open range of indices.
struct Range {
  Index begin;
  Index end;

  Index size() const { return end - begin; }
};

/// Part `part` of `parts` of [0, n): contiguous, sizes differ by at most one.
constexpr Range partition(Index n, Index part, Index parts) {
  const Index quotient = n / parts;
  const Index rest = n % parts;
  const Index begin = part * quotient + (part < rest ? part : rest);
  return {begin, begin + quotient + (part < rest ? 1 : 0)};
}

/// Calls f(Range) once on each OpenMP thread with that thread's part of [0, n): the one static
/// split that vectors, meshes and operators share, so that pages are first touched where they are
/// used. An exception of the lowest part is rethrown.
template <class F>
void parallel_ranges(Index n, F&& f) {
  std::exception_ptr failure;
  int failed_part = -1;
#pragma omp parallel
  {
    const int part = omp_get_thread_num();
    try {
      f(partition(n, part, omp_get_num_threads()));
    } catch (...) {
#pragma omp critical(tessera_parallel_failure)
      if (failed_part < 0 || part < failed_part) {
        failed_part = part;
        failure = std::current_exception();
      }
    }
  }
  if (failure) std::rethrow_exception(failure);
}

}  // namespace tessera
