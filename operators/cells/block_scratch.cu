// This file decides whether the tensors of a block lie in shared or in GPU memory.
#include <algorithm>

#include "operators/cells/block_scratch.hpp"

namespace tessera {

BlockScratch::BlockScratch(Index bytes) : bytes_per_block_(ceil_div(bytes, 16) * 16) {
  if (bytes_per_block_ <= kSharedScratchBytes) {
    shared_bytes_ = static_cast<std::size_t>(bytes_per_block_);
  } else {
    global_ = DeviceArray<char>(block_scratch_bytes(bytes));
  }
}

int BlockScratch::blocks(Index cells) const {
  constexpr Index kMaxBlocks = 1 << 20;
  return static_cast<int>(
      std::min(cells, global_.size() > 0 ? scratch_blocks(bytes_per_block_) : kMaxBlocks));
}

}  // namespace tessera
