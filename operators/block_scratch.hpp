#pragma once

#include "operators/device_cells.hpp"
#include "solvers/device_array.hpp"

namespace tessera {

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
  Index bytes_a_block() const { return bytes_a_block_; }
  Index global_bytes() const { return global_.bytes(); }
  /// Blocks of a launch over this many cells, which then stride over them.
  int blocks(Index cells) const;

 private:
  std::size_t shared_bytes_ = 0;
  Index bytes_a_block_ = 0;
  DeviceArray<char> global_;
};

}  // namespace tessera
