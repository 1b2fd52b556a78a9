// These functions cut a launch's cells into the bricks of thread blocks.
#pragma once

#include <algorithm>

#include "operators/tensor/gpu/launch.cuh"
#include "operators/tensor/gpu/launch_shapes.hpp"
#include "solvers/errors.hpp"
#include "solvers/memory/cuda_check.hpp"

namespace tessera {

/// The cells that a block of the kernel takes, for which it is then allowed shared memory.
/// @throws UnsuitableChoice where not even one cell fits
template <class T>
int allow_cells_per_block(const TensorKernelInfo<T>& kernel) {
  const Index shared_bytes = device_attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin);
  const Index by_threads = kBrickThreads / kernel.threads_per_cell;
  const Index by_memory = kBrickSharedBytes / kernel.shared_bytes_per_cell;
  const Index most = shared_bytes / kernel.shared_bytes_per_cell;
  const auto cells =
      static_cast<int>(std::min(std::max<Index>(std::min(by_threads, by_memory), 1), most));
  if (cells == 0) {
    throw UnsuitableChoice(Choice::kernel,
                           "this GPU has too little shared memory for the tensor kernel");
  }
  kernel.allow_shared_memory(cells * kernel.shared_bytes_per_cell);
  return cells;
}

/// Sets brick and bricks for args.range: as near to a cube as the cells of a block allow, by
/// doubling the shortest axis.
template <class T>
void choose_brick(int cells_per_block, TensorArguments<T>& args) {
  const CellRange& range = args.range;
  for (int d = 0; d < 3; ++d) args.brick[d] = 1;
  for (int cells = cells_per_block; cells > 1; cells /= 2) {
    int shortest = -1;
    for (int d = 0; d < args.grid.dimension; ++d) {
      if (2 * args.brick[d] > range.count[d]) continue;
      if (shortest < 0 || args.brick[d] < args.brick[shortest]) shortest = d;
    }
    if (shortest < 0) break;
    args.brick[shortest] *= 2;
  }
  for (int d = 0; d < 3; ++d) {
    args.bricks[d] = static_cast<int>(ceil_div(range.count[d], args.brick[d]));
  }
}

}  // namespace tessera
