// This file pins threads and times them.
#include "src/studies/thread_team.hpp"

#include <omp.h>
#include <sched.h>

#include <algorithm>
#include <thread>
#include <vector>

#include "postprocess/timing/clock.hpp"
#include "solvers/interruption.hpp"
#include "src/machine/machine.hpp"
#include "src/studies/study_table.hpp"

namespace tessera {
namespace {

/// While it lives, the calling thread stays on one CPU.
class PinnedThread {
 public:
  explicit PinnedThread(int cpu)
      : count_(std::max(cpu + 1, CPU_SETSIZE)), before_(CPU_ALLOC(count_)) {
    const std::size_t bytes = CPU_ALLOC_SIZE(count_);
    cpu_set_t* const one = CPU_ALLOC(count_);
    has_before_ = before_ != nullptr && sched_getaffinity(0, bytes, before_) == 0;
    if (has_before_ && one != nullptr) {
      CPU_ZERO_S(bytes, one);
      CPU_SET_S(cpu, bytes, one);
      // A core that was taken away since leaves the thread where it is.
      sched_setaffinity(0, bytes, one);
    }
    CPU_FREE(one);
  }
  PinnedThread(const PinnedThread&) = delete;
  PinnedThread& operator=(const PinnedThread&) = delete;
  ~PinnedThread() {
    if (has_before_) sched_setaffinity(0, CPU_ALLOC_SIZE(count_), before_);
    CPU_FREE(before_);
  }

 private:
  int count_;
  cpu_set_t* before_;
  bool has_before_ = false;
};

// As long as a process never had a second thread, glibc's mutexes are plain stores.
void have_had_threads() {
  static const bool once = [] {
    std::thread([] {}).join();
    return true;
  }();
  static_cast<void>(once);
}

void require_team(int threads) {
  have_had_threads();
  // A smaller team would leave parts of the work undone.
  omp_set_dynamic(0);
  const std::string why_not = why_no_team(threads);
  if (!why_not.empty()) throw NotMeasured(why_not);
}

}  // namespace

int max_team_threads() {
  return std::min(static_cast<int>(one_cpu_per_core().size()), omp_get_thread_limit());
}

std::string why_no_team(int threads) {
  const int most = max_team_threads();
  if (threads <= most) return "";
  return most == 1 ? "1 core" : std::to_string(most) + " cores";
}

Summary time_team(int threads, const Pace& pace, const TeamWork& prepare, const TeamWork& work) {
  require_team(threads);
  const std::vector<int> cpus = one_cpu_per_core();
  std::vector<double> seconds;
  seconds.reserve(static_cast<std::size_t>(pace.repetitions) + 1);
  const double first = seconds_now();
  double start = 0.0;
  bool goes_on = true;
#pragma omp parallel num_threads(threads)
  {
    const int thread = omp_get_thread_num();
    const PinnedThread pinned(cpus[thread]);
    while (goes_on) {
      prepare(thread);
#pragma omp barrier
      if (thread == 0) start = seconds_now();
      work(thread);
#pragma omp barrier
      if (thread == 0) {
        const double now = seconds_now();
        seconds.push_back(now - start);
        const int timed = static_cast<int>(seconds.size()) - 1;
        const bool has_time = now - first < pace.time_limit_s || timed < kMinStudyRepetitions;
        goes_on = timed < pace.repetitions && has_time && !stop_requested();
      }
#pragma omp barrier
    }
  }
  stop_if_requested();
  seconds.erase(seconds.begin());
  return summarize(std::move(seconds));
}

void run_team(int threads, const TeamWork& work) {
  require_team(threads);
  const std::vector<int> cpus = one_cpu_per_core();
#pragma omp parallel num_threads(threads)
  {
    const int thread = omp_get_thread_num();
    const PinnedThread pinned(cpus[thread]);
#pragma omp barrier
    work(thread);
  }
}

}  // namespace tessera
