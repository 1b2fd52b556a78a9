#include <algorithm>

#include "operators/tensor/gpu/block_scratch.hpp"

namespace tessera {

BlockScratch::BlockScratch(Index bytes) : bytes_a_block_(ceil_div(bytes, 16) * 16) {
  if (bytes_a_block_ <= kSharedScratchBytes) {
    shared_bytes_ = static_cast<std::size_t>(bytes_a_block_);
  } else {
    global_ = DeviceArray<char>(block_scratch_bytes(bytes));
  }
}

int BlockScratch::blocks(Index cells) const {
  constexpr Index kMostBlocks = 1 << 20;
  return static_cast<int>(
      std::min(cells, global_.size() > 0 ? scratch_blocks(bytes_a_block_) : kMostBlocks));
}

}  // namespace tessera
