// This file makes queues of blocks.
#include "src/studies/update_order/relaxation_orders.hpp"

#include <algorithm>
#include <numeric>

namespace tessera {

const std::vector<RelaxationOrderInfo>& relaxation_orders() {
  using enum RelaxationOrderInfo::Runs;
  using enum RelaxationOrderInfo::Sweeps;
  static const std::vector<RelaxationOrderInfo> all = {
      {RelaxationOrder::queue, "queue", vary, overlap},
      {RelaxationOrder::queue_reversed, "queue-reversed", vary, overlap},
      {RelaxationOrder::queue_random, "queue-random", vary, overlap},
      {RelaxationOrder::hardware, "hardware", vary, apart},
      {RelaxationOrder::synchronous, "synchronous", same, apart},
      {RelaxationOrder::sequential, "sequential", same, apart}};
  return all;
}

std::vector<std::int32_t> queued_blocks(RelaxationOrder order, Index blocks, int sweeps,
                                        std::mt19937_64& random) {
  std::vector<std::int32_t> queue(static_cast<std::size_t>(sweeps * blocks));
  for (int sweep = 0; sweep < sweeps; ++sweep) {
    const auto first = queue.begin() + sweep * blocks;
    const auto end = first + blocks;
    std::iota(first, end, std::int32_t{0});
    if (order == RelaxationOrder::queue_reversed) std::reverse(first, end);
    if (order == RelaxationOrder::queue_random) std::shuffle(first, end, random);
  }
  return queue;
}

}  // namespace tessera
