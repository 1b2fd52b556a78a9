// This file decides whether the tensors of a block lie in shared or in GPU memory.
#include "operators/cells/block_scratch.hpp"

#include <algorithm>
#include <bit>

namespace tessera {

BlockScratch::BlockScratch(Index bytes, Index items) : cell_bytes_(ceil_div(bytes, 16) * 16) {
  if (cell_bytes_ > kSharedScratchBytes) {
    global_ = DeviceArray<char>(block_scratch_bytes(bytes));
    return;
  }
  const auto team = static_cast<int>(
      std::bit_ceil(static_cast<std::uint64_t>(std::clamp<Index>(items, 1, kScratchThreads))));
  cells_per_block_ = kScratchThreads / team;
  while (cells_per_block_ * cell_bytes_ > kSharedScratchBytes) cells_per_block_ /= 2;
}

unsigned BlockScratch::blocks(Index cells) const {
  // Several times what a GPU has in flight: each block does so many cells that its start counts
  // little.
  constexpr Index kMaxBlocks = 1 << 12;
  return static_cast<unsigned>(
      std::min(ceil_div(cells, cells_per_block_),
               global_.size() > 0 ? scratch_blocks(cell_bytes_) : kMaxBlocks));
}

}  // namespace tessera
