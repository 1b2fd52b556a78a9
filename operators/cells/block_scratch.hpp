// A BlockScratch is the memory of a block for the tensors of a cell.
#pragma once

#include "operators/cells/device_cells.hpp"
#include "solvers/memory/device_array.hpp"

namespace tessera {

/// What every kernel may have of shared memory without asking, and the most that all blocks' parts
/// take in GPU memory, unless one block's takes more.
inline constexpr Index kSharedScratchBytes = 48 << 10;
inline constexpr Index kMaxScratchBytes = Index{256} << 20;
inline constexpr Index kMaxScratchBlocks = 512;

/// Blocks that share GPU memory, for this many bytes a block.
constexpr Index scratch_blocks(Index bytes) {
  const Index room = kMaxScratchBytes / (bytes > 0 ? bytes : 1);
  return room < 1 ? 1 : room < kMaxScratchBlocks ? room : kMaxScratchBlocks;
}

/// Bytes of GPU memory that a BlockScratch of this many bytes a block takes.
constexpr Index block_scratch_bytes(Index bytes) {
  const Index rounded = ceil_div(bytes, 16) * 16;
  return rounded <= kSharedScratchBytes ? 0 : rounded * scratch_blocks(rounded);
}

/// Where the blocks of a kernel of run-time size keep a cell's intermediate values: in shared
/// memory where they fit, else each block in its own part of an array in GPU memory.
class BlockScratch {
 public:
  /// @param bytes that one block needs
  explicit BlockScratch(Index bytes);

  /// Dynamic shared memory of a launch.
  std::size_t shared_bytes() const { return shared_bytes_; }
  /// Null where shared memory is used.
  void* global() const { return global_.size() > 0 ? const_cast<char*>(global_.data()) : nullptr; }
  Index bytes_per_block() const { return bytes_per_block_; }
  Index global_bytes() const { return global_.bytes(); }
  /// Blocks of a launch over this many cells, which then stride over them.
  int blocks(Index cells) const;

 private:
  std::size_t shared_bytes_ = 0;
  Index bytes_per_block_ = 0;
  DeviceArray<char> global_;
};

}  // namespace tessera
