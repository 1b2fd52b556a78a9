// This is the Kronecker kernel of low degrees in 3D, whose warps carry columns of nodes through z.
#pragma once

#include "operators/kronecker/launch.cuh"
#include "operators/kronecker/warps/warp.cuh"
#include "solvers/memory/warp.cuh"

namespace tessera {

/// Blocks an SM: one fewer where there are sums, which take registers.
template <class Shape>
constexpr int min_warp_blocks(KroneckerPass form) {
  return form == KroneckerPass::apply ? Shape::blocks_per_sm : Shape::blocks_per_sm - 1;
}

/// y = A x and what the form makes of it, where cells are alike along each axis. Deterministic.
///
/// Launch: blocks for the constrained nodes, then one block a tile, whose warps have rows of nodes
/// beside each other, in a chunk of layers; Shape::threads threads; shared memory for the results
/// of a layer a warp. Bytes a DoF: x and y once, and what the form adds. FMAs and additions a DoF,
/// of which `stored` of 32 lanes' columns are stored: 18, 26 and 35 at p = 1, 2 and 3.
template <class Shape, KroneckerPass form>
__global__ void __launch_bounds__(Shape::threads, min_warp_blocks<Shape>(form))
    kronecker_warp_kernel(
        const __grid_constant__ KroneckerArguments<typename Shape::T, Shape::p> g) {
  using T = typename Shape::T;
  __shared__ __align__(16) T results[Shape::warps][Shape::results];
  // As a value of the first lane, so that the compiler knows it to be the same for the warp.
  const int warp = __shfl_sync(kAllLanes, static_cast<int>(threadIdx.x) / kWarp, 0);
  run_blocks<form, Shape::threads>(g, [&](const BlockPlace& place, Sums<2>& sums) {
    KroneckerWarp<Shape, form> work(g, results[warp], place.tile_x,
                                    place.tile_y * Shape::warps + warp);
    work.run(g.chunks.layers(place.chunk));
    sums = work.sums_of_thread();
  });
}

/// As measured on an H200.
inline constexpr ChunkTimes kWarpTimes{1.0, 1.0, 0.2, 0.4};

template <class T, int P, KroneckerPass form>
void launch_kronecker_warps(const KroneckerData<T>& data, ChunksOfKernels& chunks) {
  using Shape = KroneckerWarpShape<T, P>;
  KroneckerArguments<T, P> arguments(data);
  const std::int64_t tiles = set_tiles(arguments, Shape::stored, Shape::warps * Shape::rows);
  const auto kernel = kronecker_warp_kernel<Shape, form>;
  static const int slots = kronecker_slots(kernel, Shape::threads, 0);
  set_constrained_nodes(arguments, RowEnds::by_tiles, Shape::threads, slots);
  set_chunks(arguments, tiles, 1, slots, kWarpTimes, chunks);
  launch_blocks(kernel, arguments, Shape::threads, 0);
}

}  // namespace tessera
