// This file compares what ranks say of their failures.
#include "solvers/ranks/failure_channel.hpp"

#include <algorithm>

namespace tessera {

bool failed_together(const Communicator& ranks, const std::string& place) {
  // Ranks that fail together have just left the same sum; they only have to unwind.
  constexpr double kPatienceSeconds = 5.0;
  if (ranks.size() == 1) return true;
  const auto* const channel = dynamic_cast<const FailureChannel*>(&ranks);
  if (channel == nullptr) return false;
  const auto all = channel->gather_failures({0, place}, kPatienceSeconds);
  return all && std::all_of(all->begin(), all->end(),
                            [&](const RankFailure& failure) { return failure.message == place; });
}

}  // namespace tessera
