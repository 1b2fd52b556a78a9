// RankTimes are the timer trees of all ranks as one.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "postprocess/timing/timers.hpp"
#include "solvers/ranks/communicator.hpp"

namespace tessera {

/// Seconds of one part over the ranks; 0 counts for those that do not have it.
struct RankSpread {
  double min = 0.0;
  double mean = 0.0;
  double max = 0.0;

  /// max / mean; 1 where no rank took any time. 1 means that all ranks work for as long.
  double imbalance() const { return mean > 0.0 ? max / mean : 1.0; }
};

/// The parts of a run on several ranks, merged by their names: those of rank 0 in its order, then
/// what only others have.
struct RankTimes {
  int ranks = 1;
  /// Of the rank that took longest.
  double elapsed = 0.0;
  /// Calls, total and min (the shortest call) are those of the rank with the largest total, which
  /// all others wait for; work as the first rank that has the part says.
  std::vector<TimerTree::Part> parts;
  /// By path from the top.
  std::vector<std::pair<std::string, RankSpread>> spreads;

  /// Null if there is no such part.
  const RankSpread* find(std::string_view path) const;
};

/// All ranks call it together, and all get the same.
RankTimes gather_times(const TimerTree& timers, const Communicator& ranks);

}  // namespace tessera
