// A BlockScratch is the memory of a block for the tensors of its cells.
#pragma once

#include "operators/cells/device_cells.hpp"
#include "solvers/memory/device_array.hpp"

namespace tessera {

/// What every kernel may have of shared memory without asking, and the most that all blocks' parts
/// take in GPU memory, unless one block's takes more.
inline constexpr Index kSharedScratchBytes = 48 << 10;
inline constexpr Index kMaxScratchBytes = Index{256} << 20;
inline constexpr Index kMaxScratchBlocks = 512;

/// The threads of blocks with such a scratch.
inline constexpr int kScratchThreads = 128;

/// Blocks that share GPU memory, for this many bytes a block.
constexpr Index scratch_blocks(Index bytes) {
  const Index room = kMaxScratchBytes / (bytes > 0 ? bytes : 1);
  return room < 1 ? 1 : room < kMaxScratchBlocks ? room : kMaxScratchBlocks;
}

/// Bytes of GPU memory that a BlockScratch of this many bytes a cell takes.
constexpr Index block_scratch_bytes(Index bytes) {
  const Index rounded = ceil_div(bytes, 16) * 16;
  return rounded <= kSharedScratchBytes ? 0 : rounded * scratch_blocks(rounded);
}

/// Where a block's tensors are. Kernels are compiled for both, as addresses in shared memory are
/// shorter.
enum class ScratchPlace { shared, global };

/// A BlockScratch as kernels see it.
struct ScratchView {
  char* global;      // null where it is in shared memory
  Index cell_bytes;  // of a cell
  int team_threads;  // of a cell: a power of 2
};

/// Where the blocks of a kernel by teams keep intermediate values of cells: in shared
/// memory where they fit, else each block in its own part of an array in GPU memory. Of cells with
/// few points a block takes several at a time, with a team of threads each (cell_team.cuh).
class BlockScratch {
 public:
  /// @param bytes that one cell needs
  /// @param items of a cell that threads share out, nodes or points
  BlockScratch(Index bytes, Index items);

  /// Dynamic shared memory of a launch.
  std::size_t shared_bytes() const {
    return global_.size() > 0 ? 0 : static_cast<std::size_t>(cells_per_block_ * cell_bytes_);
  }
  ScratchView view() const {
    return {global_.size() > 0 ? const_cast<char*>(global_.data()) : nullptr, cell_bytes_,
            kScratchThreads / cells_per_block_};
  }
  Index global_bytes() const { return global_.bytes(); }
  /// Calls f.operator()<place>() with the place that it has.
  template <class F>
  void with_place(F&& f) const {
    if (global_.size() > 0) {
      f.template operator()<ScratchPlace::global>();
    } else {
      f.template operator()<ScratchPlace::shared>();
    }
  }
  /// Blocks of kScratchThreads threads of a launch over this many cells, which then stride over
  /// them.
  unsigned blocks(Index cells) const;

 private:
  Index cell_bytes_;
  int cells_per_block_ = 1;
  DeviceArray<char> global_;
};

}  // namespace tessera
