// A ThreadCount sets the number of OpenMP threads for a scope.
#pragma once

#include <omp.h>

namespace tessera::testing {

/// Sets the number of OpenMP threads and restores the former one at the end of its scope.
class ThreadCount {
 public:
  explicit ThreadCount(int threads) : before_(omp_get_max_threads()) {
    omp_set_num_threads(threads);
  }
  ~ThreadCount() { omp_set_num_threads(before_); }
  ThreadCount(const ThreadCount&) = delete;
  ThreadCount& operator=(const ThreadCount&) = delete;

 private:
  int before_;
};

}  // namespace tessera::testing
