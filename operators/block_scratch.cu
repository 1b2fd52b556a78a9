#include <algorithm>

#include "operators/block_scratch.hpp"
#include "solvers/cuda_check.hpp"

namespace tessera {
namespace {

// What every kernel may have without asking.
constexpr Index kSharedBytes = 48 << 10;
constexpr int kBlocksInGlobalMemory = 512;
constexpr Index kMostBlocks = 1 << 20;

}  // namespace

BlockScratch::BlockScratch(Index bytes) : bytes_a_block_(ceil_div(bytes, 16) * 16) {
  if (bytes_a_block_ <= kSharedBytes) {
    shared_bytes_ = static_cast<std::size_t>(bytes_a_block_);
  } else {
    global_ = DeviceArray<char>(bytes_a_block_ * kBlocksInGlobalMemory);
  }
}

int BlockScratch::blocks(Index cells) const {
  const Index most = global_.size() > 0 ? kBlocksInGlobalMemory : kMostBlocks;
  return static_cast<int>(std::min(cells, most));
}

}  // namespace tessera
