// This is the Kronecker kernel of the GPU by tiles, and its launch.
#pragma once

#include <algorithm>

#include "operators/kronecker/launch.cuh"
#include "operators/kronecker/tiles/layers.cuh"
#include "operators/kronecker/tiles/single_plane.cuh"

namespace tessera {

/// Blocks an SM: fewer where matrix entries are no constants, which takes registers.
template <class Shape>
constexpr int min_blocks(KroneckerCells kind) {
  constexpr int kBlocks = Shape::blocks_per_sm;
  if (kind == KroneckerCells::alike) return kBlocks;
  const int with_tables = std::max(std::min(kBlocks, 2), (kBlocks + 1) / 2);
  const int wanted = kind == KroneckerCells::different ? with_tables : (3 * kBlocks + 3) / 4;
  constexpr int kMostThreads = 768;  // of an SM, so that each has 80 registers
  return std::min(wanted, kMostThreads / Shape::threads);
}

/// y = A x and what the form makes of it. Deterministic.
///
/// Launch: blocks for the constrained nodes, then one block a tile, in 3D of a chunk of layers, in
/// 2D with sums and cells that are alike some tiles along y; Shape::threads threads,
/// Shape::shared_bytes() of shared memory. Bytes a DoF: x and y once, and what the form adds. FMAs
/// a DoF: 4 (p + 2) in 2D; in 3D 5 (p + 2) and about (p + 1)^2 / p along z, where cells are alike
/// half of their matrices, else twice that. Of these a tile computes 2 (p + 2) along y for (width +
/// p + 1) / width as many.
template <int dimension, class Shape, KroneckerCells kind, KroneckerPass compiled>
__global__ void __launch_bounds__(Shape::threads, min_blocks<Shape>(kind)) kronecker_tile_kernel(
    const __grid_constant__ KroneckerArguments<typename Shape::T, Shape::p> g) {
  extern __shared__ __align__(16) unsigned char shared_memory[];
  run_blocks<compiled, Shape::threads>(g, [&](const BlockPlace& place, Sums<2>& sums) {
    KroneckerTile<dimension, Shape, kind, compiled> tile(g, shared_memory, place);
    tile.run();
    sums = tile.sums_of_thread();
  });
}

/// How many tiles a block goes through in 2D: some, so that there are fewer sums, but not so many
/// that the GPU has nothing to do for some of its blocks.
inline int tiles_per_block(std::int64_t tiles, int slots) {
  constexpr std::int64_t kMost = 4;
  return static_cast<int>(std::clamp<std::int64_t>(tiles / (2 * slots), 1, kMost));
}

/// As measured on an H200.
inline constexpr ChunkTimes kTileTimes{0.3, 0.7, 0.25, 0.5};

template <int dimension, class Shape, KroneckerCells kind, KroneckerPass compiled>
void launch_kronecker_tiles(const KroneckerData<typename Shape::T>& data, ChunksOfKernels& chunks) {
  KroneckerArguments<typename Shape::T, Shape::p> arguments(data);
  constexpr int kShared = Shape::shared_bytes(dimension, kind);
  const int cells = tile_cells_x(Shape::shape, cells_with_free_nodes(data, 0, Shape::p));
  const std::int64_t tiles = set_tiles(arguments, cells * Shape::p, Shape::height);
  arguments.grid.cells_of_tile = cells;
  const auto kernel = kronecker_tile_kernel<dimension, Shape, kind, compiled>;
  static const int slots = kronecker_slots(kernel, Shape::threads, kShared);
  set_constrained_nodes(arguments, RowEnds::by_blocks, Shape::threads, slots);
  if constexpr (dimension == 3) {
    set_chunks(arguments, tiles, Shape::layers, slots, kTileTimes, chunks);
  } else if constexpr (takes_tiles(dimension, compiled)) {
    arguments.tiles_of_block = tiles_per_block(tiles, slots);
    arguments.grid.tiles_y = blocks_for(arguments.grid.tiles_y, arguments.tiles_of_block);
  }
  launch_blocks(kernel, arguments, Shape::threads, kShared);
}

}  // namespace tessera
