// This file times the parts of cycles on the host.
#include "src/solve/cycle_timing.hpp"

#include <fmt/format.h>

namespace tessera {

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

void CycleTimer::begin(int level, CyclePart part) {
  part_.emplace(timers_, fmt::format("level {}: {}", level, cycle_part_name(part)));
}

void CycleTimer::end() { part_.reset(); }

}  // namespace tessera
