// This kernel makes lines of what ranks have sent of their planes, and back.
#pragma once

#include <cstdint>

#include "operators/fast_diagonalization/device_lines.hpp"
#include "operators/fast_diagonalization/kernels.cuh"

namespace tessera {

/// Fold: blocks of ranks -> lines [outer][width], unfold: lines -> blocks, with the butterfly along
/// the outer axis where `pairs`, outer / 2, says that it is folded. Entry j of `width` is entry j %
/// row of place j / row along the cut axis. Launch: kFoldThreads entries a block, pairs of outer
/// nodes in a loop over the grid's y. No shared memory; 16 bytes and a flop a DoF, and 16 bytes for
/// an outer node once a block; deterministic.
template <FoldDirection direction, class T>
__global__ void __launch_bounds__(kFoldThreads)
    fold_lines_kernel(int row, std::int64_t width, int outer, int pairs,
                      const OuterPlace* __restrict__ places, const T* __restrict__ in,
                      T* __restrict__ out) {
  const std::int64_t j = thread_number<kFoldThreads>();
  if (j >= width) return;
  const std::int64_t place = j / row;
  const std::int64_t in_row = j - place * row;
  for (int o = blockIdx.y; o < outer - pairs; o += gridDim.y) {
    const int nodes[2] = {o, outer - 1 - o};
    const int count = o < pairs ? 2 : 1;
    std::int64_t in_blocks[2];
    std::int64_t in_lines[2];
#pragma unroll
    for (int k = 0; k < 2; ++k) {
      if (k >= count) continue;
      const OuterPlace at = places[nodes[k]];
      in_blocks[k] = at.first + place * at.step + in_row;
      in_lines[k] = nodes[k] * width + j;
    }
    const std::int64_t* const from = direction == FoldDirection::fold ? in_blocks : in_lines;
    const std::int64_t* const to = direction == FoldDirection::fold ? in_lines : in_blocks;
    const T a = in[from[0]];
    if (count == 1) {
      out[to[0]] = a;
    } else {
      const T b = in[from[1]];
      out[to[0]] = a + b;
      out[to[1]] = a - b;
    }
  }
}

/// Queues fold_lines_kernel(). There is a line at least, and a node in it.
template <FoldDirection direction, class T>
void fold_lines(const DeviceLines& lines, std::int64_t pairs, const OuterPlace* places, const T* in,
                T* out) {
  const std::int64_t width = lines.own_places * lines.row;
  constexpr std::int64_t kMax = 32768;
  const dim3 grid(blocks_for(width, kFoldThreads),
                  static_cast<unsigned>(std::min<std::int64_t>(lines.outer - pairs, kMax)));
  launch(fold_lines_kernel<direction, T>,
         {"folding of fast diagonalization's lines", grid, kFoldThreads},
         static_cast<int>(lines.row), width, static_cast<int>(lines.outer), static_cast<int>(pairs),
         places, in, out);
}

}  // namespace tessera
