// This kernel makes lines of what ranks have sent of their planes, and back.
#pragma once

#include <algorithm>
#include <cstdint>

#include "operators/fast_diagonalization/device_lines.hpp"
#include "operators/fast_diagonalization/kernels.cuh"

namespace tessera {

/// The lines of a node of the outer axis: the first one, and how far the next one is.
template <class T>
struct LinePlace {
  T* first;
  std::int64_t step;
};
static_assert(sizeof(LinePlace<double>) == kLinePlaceBytes);

/// Fold: planes and blocks -> lines [outer][width], unfold: lines -> planes and blocks, with the
/// butterfly along the outer axis where `pairs`, outer / 2, says that it is folded. Entry j of
/// `width` is entry j % row of place first_place + j / row. Launch: kFoldThreads entries a block,
/// pairs of outer nodes in a loop over the grid's y. No shared memory; 16 bytes and a flop a DoF,
/// and 16 bytes for an outer node once a block; deterministic.
template <FoldDirection direction, class T>
__global__ void __launch_bounds__(kFoldThreads)
    fold_lines_kernel(int row, std::int64_t first_place, std::int64_t width, int outer, int pairs,
                      const LinePlace<T>* __restrict__ places, T* __restrict__ lines) {
  const std::int64_t j = thread_number<kFoldThreads>();
  if (j >= width) return;
  const std::int64_t place = j / row;
  const std::int64_t in_row = j - place * row;
  const auto in_blocks = [&](int node) {
    const LinePlace<T> at = places[node];
    return at.first + (first_place + place) * at.step + in_row;
  };
  for (int o = blockIdx.y; o < outer - pairs; o += gridDim.y) {
    const int mirrored = outer - 1 - o;
    const bool is_pair = o < pairs;
    T* const block = in_blocks(o);
    T* const other_block = is_pair ? in_blocks(mirrored) : nullptr;
    T* const line = lines + o * width + j;
    T* const other_line = lines + mirrored * width + j;
    if (direction == FoldDirection::fold) {
      const T a = *block;
      if (is_pair) {
        const T b = *other_block;
        *line = a + b;
        *other_line = a - b;
      } else {
        *line = a;
      }
    } else {
      const T a = *line;
      if (is_pair) {
        const T b = *other_line;
        *block = a + b;
        *other_block = a - b;
      } else {
        *block = a;
      }
    }
  }
}

/// Queues fold_lines_kernel() for a piece that is not empty, of nodes that there are.
template <FoldDirection direction, class T>
void fold_lines(const DeviceLines& shape, const LinePiece& piece, std::int64_t pairs,
                const LinePlace<T>* places, T* lines, cudaStream_t stream) {
  const std::int64_t width = piece.count * shape.row;
  constexpr std::int64_t kMax = 32768;
  const dim3 grid(blocks_for(width, kFoldThreads),
                  static_cast<unsigned>(std::min<std::int64_t>(shape.outer - pairs, kMax)));
  launch(fold_lines_kernel<direction, T>,
         {"folding of fast diagonalization's lines", grid, kFoldThreads, 0, stream},
         static_cast<int>(shape.row), piece.first, width, static_cast<int>(shape.outer),
         static_cast<int>(pairs), places, lines);
}

}  // namespace tessera
