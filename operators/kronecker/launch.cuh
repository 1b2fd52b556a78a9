// These functions are what the launches of the Kronecker kernels have in common.
#pragma once

#include <algorithm>
#include <stdexcept>

#include "operators/kronecker/arguments.cuh"
#include "solvers/memory/launch.cuh"
#include "solvers/memory/reduction.cuh"

namespace tessera {

/// The sums of the form over all blocks, where it has some.
template <int threads, KroneckerPass compiled, class T>
__device__ __forceinline__ void add_block_sums(const Sums<2>& of_thread,
                                               const KroneckerData<T>& g) {
  if constexpr (compiled != KroneckerPass::apply && compiled != KroneckerPass::step) {
    if (g.v.sums == nullptr) return;
    reduce_over_grid<threads>(of_thread, g.sums.partial, g.sums.arrived, [&](const Sums<2>& total) {
      g.v.sums[0] = total[0];
      if (g.v.form == KroneckerPass::apply_dot) g.v.sums[1] = total[1];
    });
  }
}

/// Blocks of a kernel that run at a time, which may take `shared_bytes` from now on.
template <class Kernel>
int kronecker_slots(Kernel kernel, int threads, int shared_bytes) {
  allow_shared_memory(kernel, shared_bytes);
  return resident_blocks(kernel, threads, shared_bytes);
}

/// Which tile and chunk a block has.
struct BlockPlace {
  int tile_x;
  int tile_y;
  int chunk;
};

/// What every Kronecker kernel is: blocks that go through constrained nodes, and blocks with
/// tiles, for which it calls f(place, sums); then the sums of the form.
template <KroneckerPass compiled, int threads, class T, int P, class F>
__device__ __forceinline__ void run_blocks(const KroneckerArguments<T, P>& g, F&& f) {
  Sums<2> sums;
  if (blockIdx.x < g.grid.constrained.blocks) {
    copy_constrained_nodes<compiled, threads>(g.v, g.grid.constrained, blockIdx.x, sums);
  } else {
    const unsigned block = blockIdx.x - g.grid.constrained.blocks;
    const unsigned row = block / g.grid.tiles_x;
    f(BlockPlace{static_cast<int>(block % g.grid.tiles_x), static_cast<int>(row % g.grid.tiles_y),
                 static_cast<int>(row / g.grid.tiles_y)},
      sums);
  }
  add_block_sums<threads, compiled>(sums, g);
}

/// Cells along an axis of which the first p nodes are not all constrained: one more than the mesh
/// has where the last node is free.
template <class T>
int cells_with_free_nodes(const KroneckerData<T>& data, int d, int p) {
  return data.axis[d].last_free / p + 1;
}

/// Sets the tiles of width x height nodes along x and y that free nodes need.
/// @returns how many they are
template <class T, int P>
std::int64_t set_tiles(KroneckerArguments<T, P>& arguments, int width, int height) {
  KroneckerGrid& grid = arguments.grid;
  grid.tiles_x = static_cast<unsigned>(arguments.axis[0].last_free / width + 1);
  grid.tiles_y = static_cast<unsigned>(arguments.axis[1].last_free / height + 1);
  return static_cast<std::int64_t>(grid.tiles_x) * grid.tiles_y;
}

/// Sets the chunks of layers that blocks go through, `step` layers at a time.
template <class T, int P>
void set_chunks(KroneckerArguments<T, P>& arguments, std::int64_t tiles, int step, int slots,
                const ChunkTimes& times, ChunksOfKernels& chunks) {
  const LayerWork work{tiles, arguments.axis[2].cells, step};
  arguments.chunks = chunks.best(work, slots, times);
  arguments.grid.chunks = static_cast<unsigned>(arguments.chunks.count);
}

/// Sets the blocks for the constrained nodes: not many of the `slots` blocks that run at a time.
template <class T, int P>
void set_constrained_nodes(KroneckerArguments<T, P>& arguments, RowEnds row_ends, int threads,
                           int slots) {
  arguments.grid.constrained =
      constrained_nodes(arguments.axis, arguments.nodes, row_ends, threads, std::max(slots / 8, 1));
}

/// Launches a kernel on the blocks of its grid.
template <class T, int P>
void launch_blocks(void (*kernel)(KroneckerArguments<T, P>),
                   const KroneckerArguments<T, P>& arguments, int threads, int shared_bytes) {
  const KroneckerGrid& grid = arguments.grid;
  if (arguments.v.sums != nullptr && grid.blocks() > arguments.sums.capacity) {
    throw std::logic_error("the kernel kronecker has more blocks than room for their sums");
  }
  launch(kernel,
         {"Kronecker operator", static_cast<unsigned>(grid.blocks()),
          static_cast<unsigned>(threads), static_cast<std::size_t>(shared_bytes)},
         arguments);
}

}  // namespace tessera
