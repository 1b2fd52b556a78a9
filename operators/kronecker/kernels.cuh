// These are the Kronecker kernels of the GPU, their sums and their launch shapes.
#pragma once

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <utility>

#include "mesh/with_constant.hpp"
#include "operators/kronecker/layers.cuh"
#include "solvers/memory/launch.cuh"

namespace tessera {

/// The sums of the form, where it has some.
template <class Shape, KroneckerPass compiled>
__device__ __forceinline__ void add_tile_sums(const Sums<2>& of_thread,
                                              const KroneckerData<typename Shape::T>& g) {
  if constexpr (compiled != KroneckerPass::apply) {
    if (g.v.sums == nullptr) return;
    reduce_over_grid<Shape::threads>(of_thread, g.sums.partial, g.sums.arrived,
                                     [&](const Sums<2>& total) {
                                       g.v.sums[0] = total[0];
                                       if (g.v.form == KroneckerPass::apply_dot) {
                                         g.v.sums[1] = total[1];
                                       }
                                     });
  }
}

/// Blocks an SM: fewer where matrix entries are no constants, which takes registers.
template <class Shape>
constexpr int min_blocks(KroneckerCells kind) {
  if (kind == KroneckerCells::different) return (Shape::blocks_per_sm + 1) / 2;
  return kind == KroneckerCells::alike ? Shape::blocks_per_sm : (3 * Shape::blocks_per_sm + 3) / 4;
}

/// y = A x and what the form makes of it. Deterministic.
///
/// Launch: one block a tile, in 3D of a chunk of layers, in 2D with sums and cells that are alike
/// some tiles along y; Shape::threads threads, Shape::shared_bytes() of shared memory. Bytes a DoF:
/// x and y once, and what the form adds. FMAs a DoF: 4 (p + 2) in 2D; in 3D 5 (p + 2) and about (p
/// + 1)^2 / p along z, where cells are alike half of their matrices, else twice that. Of these a
/// tile computes 2 (p
/// + 2) along y for (width + p + 1) / width as many.
template <int dimension, class Shape, KroneckerCells kind, KroneckerPass compiled>
__global__ void __launch_bounds__(Shape::threads, min_blocks<Shape>(kind))
    kronecker_kernel(const __grid_constant__ KroneckerArguments<typename Shape::T, Shape::p> g) {
  extern __shared__ __align__(16) unsigned char shared_memory[];
  KroneckerTile<dimension, Shape, kind, compiled> tile(g, shared_memory);
  tile.run();
  add_tile_sums<Shape, compiled>(tile.sums_of_thread(), g);
}

/// How many layers a block goes through, so that the blocks end soonest, of which `slots` run at a
/// time. A block starts a layer early, goes through `step` layers at a time, and pays for its
/// start.
inline int best_layers_per_chunk(std::int64_t tiles, int layers, int step, int slots) {
  int best = layers;
  double best_time = 0.0;
  // More waves than a few never end sooner: each chunk pays for a layer.
  for (int chunks = 1; chunks <= layers && (chunks - 1) * tiles <= 8LL * slots; ++chunks) {
    const int layers_per_chunk = (layers + chunks - 1) / chunks;
    const std::int64_t blocks = tiles * ((layers + layers_per_chunk - 1) / layers_per_chunk);
    // Between waves that wait for each other and blocks that start when any other ends.
    const double waves = static_cast<double>(blocks) / slots;
    const double in_turn = 0.5 * (std::ceil(waves) + waves + 0.5);
    const int early = chunks > 1 ? 1 : 0;
    const int steps = (layers_per_chunk + early + step - 1) / step;
    const double time = in_turn * (steps * step + 0.3);
    if (chunks > 1 && time >= 0.999 * best_time) continue;
    best = layers_per_chunk;
    best_time = time;
  }
  return best;
}

/// How many tiles a block goes through in 2D: some, so that there are fewer sums, but not so many
/// that the GPU has nothing to do for some of its blocks.
inline int tiles_per_block(std::int64_t tiles, int slots) {
  constexpr std::int64_t kMost = 4;
  return static_cast<int>(std::clamp<std::int64_t>(tiles / (2 * slots), 1, kMost));
}

template <int dimension, class Shape, KroneckerCells kind, KroneckerPass compiled>
void launch_kronecker_shape(const KroneckerData<typename Shape::T>& data) {
  KroneckerArguments<typename Shape::T, Shape::p> arguments(data);
  constexpr int kShared = Shape::shared_bytes(dimension, kind);
  const auto tiles = [&](int d, int size) {
    return static_cast<unsigned>(data.axis[d].last_free / size + 1);
  };
  dim3 grid(tiles(0, Shape::width), tiles(1, Shape::height), 1);
  const auto kernel = kronecker_kernel<dimension, Shape, kind, compiled>;
  static const int slots = [&] {
    allow_shared_memory(kernel, kShared);
    return resident_blocks(kernel, Shape::threads, kShared);
  }();
  const std::int64_t all_tiles = static_cast<std::int64_t>(grid.x) * grid.y;
  const auto blocks_of = [&](int items) {
    return static_cast<unsigned>((items + arguments.per_block - 1) / arguments.per_block);
  };
  if constexpr (dimension == 3) {
    const int layers = data.axis[2].cells;
    arguments.per_block = best_layers_per_chunk(all_tiles, layers, Shape::layers, slots);
    grid.z = blocks_of(layers);
  } else if constexpr (takes_tiles(dimension, compiled)) {
    arguments.per_block = tiles_per_block(all_tiles, slots);
    grid.y = blocks_of(static_cast<int>(grid.y));
  }
  // CUDA's limit is 2^31 - 1 blocks along x. Both axes beyond the one of y fit no memory.
  constexpr unsigned kMaxBlocksAlongY = 65535;
  arguments.y_first = grid.y > kMaxBlocksAlongY;
  if (arguments.y_first) std::swap(grid.x, grid.y);
  if (data.v.sums != nullptr &&
      static_cast<std::int64_t>(grid.x) * grid.y * grid.z > data.sums.capacity) {
    throw std::logic_error("the kernel kronecker has more blocks than room for their sums");
  }
  launch(kernel, {"Kronecker operator", grid, Shape::threads, kShared}, arguments);
}

/// The kernel of the data's kind of cells and form.
template <int dimension, class Shape>
void launch_kronecker_form(const KroneckerData<typename Shape::T>& data) {
  const auto launch_any = [&]<KroneckerCells kind>() {
    launch_kronecker_shape<dimension, Shape, kind, KroneckerPass::any>(data);
  };
  if (data.kind == KroneckerCells::different) {
    return launch_any.template operator()<KroneckerCells::different>();
  }
  if constexpr (dimension == 3) {
    if (data.kind == KroneckerCells::multiples_along_z) {
      return launch_any.template operator()<KroneckerCells::multiples_along_z>();
    }
    if (data.kind == KroneckerCells::alike_along_xy) {
      return launch_any.template operator()<KroneckerCells::alike_along_xy>();
    }
  }
  const auto launch_form = [&]<KroneckerPass form>() {
    launch_kronecker_shape<dimension, Shape, KroneckerCells::alike, form>(data);
  };
  switch (data.v.form) {
    case KroneckerPass::apply:
      return launch_form.template operator()<KroneckerPass::apply>();
    case KroneckerPass::apply_dot:
      return launch_form.template operator()<KroneckerPass::apply_dot>();
    case KroneckerPass::residual:
      return launch_form.template operator()<KroneckerPass::residual>();
    case KroneckerPass::any:
      break;
  }
}

/// Launches with the tile of a degree.
template <int dimension, class T>
void launch_kronecker_degree(int p, const KroneckerData<T>& data) {
  with_constant<1, kMaxFastDegree>(p, [&]<int P>() {
    launch_kronecker_form<dimension, KroneckerShape<T, P, kronecker_tile(dimension, P, sizeof(T))>>(
        data);
  });
}

}  // namespace tessera
