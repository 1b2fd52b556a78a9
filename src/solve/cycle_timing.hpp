// A CycleTimer times the parts of multigrid cycles on the host.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "postprocess/timing/timers.hpp"
#include "solvers/preconditioners/multigrid.hpp"

namespace tessera {

inline constexpr std::size_t kCycleParts = 4;

/// "level 0: smooth".
std::string cycle_timer_name(int level, CyclePart part);

/// Times the parts of cycles on the host, within the innermost open scope.
class CycleTimer final : public CycleObserver {
 public:
  explicit CycleTimer(TimerTree& timers) : timers_(timers) {}
  void begin(int level, CyclePart part) override;
  void end() override;

 private:
  TimerTree& timers_;
  // Made in place: scopes are neither copied nor moved.
  struct Part {
    Part(TimerTree& timers, const std::string& name) : scope(timers.scope(name)) {}
    TimerTree::Scope scope;
  };

  std::optional<Part> part_;
};

/// Seconds of each part of a cycle on one level.
using CycleTimes = std::array<double, kCycleParts>;

}  // namespace tessera
