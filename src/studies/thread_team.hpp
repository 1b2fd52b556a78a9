// A team of threads, each pinned to a physical core of its own, is timed at work.
#pragma once

#include <functional>
#include <string>

#include "postprocess/timing/statistics.hpp"
#include "src/studies/study_options.hpp"

namespace tessera {

/// Work of one thread of a team, by its number from 0. It must not throw.
using TeamWork = std::function<void(int thread)>;

/// The largest team: one thread a physical core of the process's affinity, at most as many as
/// OpenMP grants.
int max_team_threads();

/// Why there is no team of so many threads: "2 cores"; empty if there can be one.
std::string why_no_team(int threads);

/// Seconds from the moment when all threads of the team are ready until all have done their work;
/// before each repetition, outside of the clock, prepare() is called by each. One repetition before
/// those that count is not timed. The threads are the same in all repetitions; what they share
/// must have been allocated before. Work may hold `#pragma omp barrier`.
/// @throws Interrupted between two repetitions; NotMeasured for more threads than cores
Summary time_team(int threads, const Pace& pace, const TeamWork& prepare, const TeamWork& work);

/// One repetition without a clock. @throws NotMeasured for more threads than cores
void run_team(int threads, const TeamWork& work);

}  // namespace tessera
