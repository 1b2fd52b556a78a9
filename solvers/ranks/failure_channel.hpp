// A FailureChannel is how ranks learn, out of step with all else, that others have failed as well.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "solvers/ranks/communicator.hpp"

namespace tessera {

/// What became of one rank.
struct RankFailure {
  int code = 0;
  /// 1000 characters of it, if it has more, reach the others.
  std::string message;
};

/// Communicators of several ranks have it.
class FailureChannel {
 public:
  virtual ~FailureChannel() = default;
  FailureChannel(const FailureChannel&) = delete;
  FailureChannel& operator=(const FailureChannel&) = delete;

  /// The failures of all ranks, in their order, if every one of them fails and calls this within
  /// so many seconds; nothing if there are others, which may wait for this one. Of several ranks
  /// to which that happens the lowest gets the nothing, and the others wait for it to end
  /// them. It may be called at any moment: not in step with the functions of the communicator.
  virtual std::optional<std::vector<RankFailure>> gather_failures(const RankFailure& mine,
                                                                  double seconds) const = 0;

 protected:
  FailureChannel() = default;
};

/// Whether all ranks have failed in the same place, which each of them says: then they are in step
/// again. Otherwise a rank must not use the communicator any more, as others may be in the midst of
/// the work. A single rank is always in step.
[[nodiscard]] bool failed_together(const Communicator& ranks, const std::string& place);

}  // namespace tessera
