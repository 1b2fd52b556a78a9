// This file counts where inconsistencies are, and in which order blocks started.
#include "src/studies/update_order/order_probe.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

namespace tessera {

InconsistencyPlaces places_of(const InconsistencyCounts& counts, int block) {
  InconsistencyPlaces places;
  for (int component = 0; component < kProbePeriod; ++component) {
    const int thread = component % block;
    std::int64_t& place = thread == 0                           ? places.block_first
                          : thread == block - 1                 ? places.block_last
                          : thread % kWarpSize == 0             ? places.warp_first
                          : thread % kWarpSize == kWarpSize - 1 ? places.warp_last
                                                                : places.elsewhere;
    place += counts[component];
  }
  return places;
}

std::string histogram_text(const InconsistencyCounts& counts) {
  std::string text;
  for (int component = 0; component < kProbePeriod; ++component) {
    if (counts[component] == 0) continue;
    text += fmt::format("{}{}:{}", text.empty() ? "" : " ", component, counts[component]);
  }
  return text;
}

StartOrder& StartOrder::operator+=(const StartOrder& more) {
  pairs += more.pairs;
  increasing += more.increasing;
  increasing_by_clock += more.increasing_by_clock;
  same_multiprocessor += more.same_multiprocessor;
  displacement = std::max(displacement, more.displacement);
  return *this;
}

StartOrder start_order(std::span<const BlockStart> starts, Index first, Index end) {
  StartOrder order;
  for (Index block = first; block < end; ++block) {
    const BlockStart& start = starts[block];
    const auto moved = static_cast<std::int64_t>(start.ticket) - block;
    order.displacement = std::max<std::int64_t>(order.displacement, std::abs(moved));
    if (block + 1 == end) break;
    const BlockStart& next = starts[block + 1];
    ++order.pairs;
    if (start.ticket < next.ticket) ++order.increasing;
    if (start.nanoseconds <= next.nanoseconds) ++order.increasing_by_clock;
    if (start.multiprocessor == next.multiprocessor) ++order.same_multiprocessor;
  }
  return order;
}

}  // namespace tessera
