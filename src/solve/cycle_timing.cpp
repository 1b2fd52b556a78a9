// This file times the parts of cycles on the host.
#include "src/solve/cycle_timing.hpp"

#include <fmt/format.h>

namespace tessera {

namespace {

std::string_view cycle_part_name(CyclePart part) {
  switch (part) {
    case CyclePart::smooth:
      return "smooth";
    case CyclePart::residual:
      return "residual";
    case CyclePart::transfer:
      return "transfer";
    case CyclePart::coarse:
      return "coarse solve";
  }
  return "";
}

}  // namespace

std::string cycle_timer_name(int level, CyclePart part) {
  return fmt::format("level {}: {}", level, cycle_part_name(part));
}

void CycleTimer::begin(int level, CyclePart part) {
  part_.emplace(timers_, cycle_timer_name(level, part));
}

void CycleTimer::end() { part_.reset(); }

}  // namespace tessera
