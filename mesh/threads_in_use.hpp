// A ThreadsInUse sets the number of OpenMP threads for a scope.
#pragma once

#include <omp.h>

namespace tessera {

/// Parallel regions that this thread begins have so many threads, until the object's scope ends.
class ThreadsInUse {
 public:
  explicit ThreadsInUse(int threads) : before_(omp_get_max_threads()) {
    omp_set_num_threads(threads);
  }
  ThreadsInUse(const ThreadsInUse&) = delete;
  ThreadsInUse& operator=(const ThreadsInUse&) = delete;
  ~ThreadsInUse() { omp_set_num_threads(before_); }

 private:
  int before_;
};

}  // namespace tessera
