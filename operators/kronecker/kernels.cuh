// These are the Kronecker kernels of the GPU, their sums and their launch shapes.
#pragma once

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "mesh/with_constant.hpp"
#include "operators/kronecker/stores.cuh"
#include "operators/kronecker/tile_shapes.hpp"
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

/// Blocks an SM. Fewer where matrix entries are no constants, or x is kept for the sums and would
/// spill (p = 2): these take registers.
template <class Shape>
constexpr int min_blocks(CellsAlongXY kind, KroneckerPass form) {
  if (kind == CellsAlongXY::different) return (Shape::blocks_per_sm + 1) / 2;
  if (form == KroneckerPass::apply_dot && Shape::p == 2) return (3 * Shape::blocks_per_sm + 1) / 4;
  return Shape::blocks_per_sm;
}

/// Launch: one block a tile, Shape::threads threads, Shape::shared_bytes() of shared memory.
/// Bytes a DoF: x and y once, and what the form adds. Deterministic.
template <class Shape, CellsAlongXY kind, KroneckerPass compiled>
__global__ void __launch_bounds__(Shape::threads, min_blocks<Shape>(kind, compiled))
    kronecker_2d_kernel(const __grid_constant__ KroneckerArguments<typename Shape::T, Shape::p> g) {
  extern __shared__ __align__(16) unsigned char shared_memory[];
  KroneckerTile<Shape, kind, compiled> tile(g, shared_memory);
  tile.run_once();
  add_tile_sums<Shape, compiled>(tile.sums_of_thread(), g);
}

/// As in 2D, with one block a tile and a chunk of layers. FMAs a DoF: 7 (p + 2), and what tiles
/// compute twice: a row of them (CellsX p + p + 1) / (CellsX p) in the y pass.
template <class Shape, CellsAlongXY kind, KroneckerPass compiled>
__global__ void __launch_bounds__(Shape::threads, min_blocks<Shape>(kind, compiled))
    kronecker_3d_kernel(const __grid_constant__ KroneckerArguments<typename Shape::T, Shape::p> g) {
  extern __shared__ __align__(16) unsigned char shared_memory[];
  KroneckerTile<Shape, kind, compiled> tile(g, shared_memory);
  tile.run_through_layers();
  add_tile_sums<Shape, compiled>(tile.sums_of_thread(), g);
}

/// How many layers a block goes through, so that the blocks, in waves of `slots`, end soonest. A
/// block pays about one layer more than it has.
inline int best_layers_per_chunk(std::int64_t tiles, int layers, int slots) {
  int best = layers;
  double best_time = 0.0;
  // More waves than a few never end sooner: each chunk pays for a layer.
  for (int chunks = 1; chunks <= layers && (chunks - 1) * tiles <= 8LL * slots; ++chunks) {
    const int layers_per_chunk = (layers + chunks - 1) / chunks;
    const std::int64_t blocks = tiles * ((layers + layers_per_chunk - 1) / layers_per_chunk);
    const auto waves = static_cast<double>((blocks + slots - 1) / slots);
    const double time = waves * (layers_per_chunk + 1.3);
    if (chunks > 1 && time >= 0.999 * best_time) continue;
    best = layers_per_chunk;
    best_time = time;
  }
  return best;
}

template <int dimension, class Shape, CellsAlongXY kind, KroneckerPass compiled>
void launch_kronecker_shape(const KroneckerData<typename Shape::T>& data) {
  KroneckerArguments<typename Shape::T, Shape::p> arguments(data);
  constexpr int kShared = Shape::shared_bytes(dimension, kind);
  constexpr KroneckerMinTile kMinTile = kronecker_min_tile(dimension, Shape::p);
  static_assert(Shape::cells_x >= kMinTile.cells_x && Shape::cells_y >= kMinTile.cells_y);
  // The last tile of an axis may hold the last node alone.
  dim3 grid(data.axis[0].cells / Shape::cells_x + 1, data.axis[1].cells / Shape::cells_y + 1, 1);
  const auto kernel = [] {
    if constexpr (dimension == 2) {
      return kronecker_2d_kernel<Shape, kind, compiled>;
    } else {
      return kronecker_3d_kernel<Shape, kind, compiled>;
    }
  }();
  static const int slots = [&] {
    allow_shared_memory(kernel, kShared);
    return resident_blocks(kernel, Shape::threads, kShared);
  }();
  if constexpr (dimension == 3) {
    const int layers = data.axis[2].cells;
    arguments.layers_per_chunk =
        best_layers_per_chunk(static_cast<std::int64_t>(grid.x) * grid.y, layers, slots);
    grid.z = (layers + arguments.layers_per_chunk - 1) / arguments.layers_per_chunk;
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
  if (data.kind == CellsAlongXY::different) {
    return launch_kronecker_shape<dimension, Shape, CellsAlongXY::different, KroneckerPass::any>(
        data);
  }
  const auto launch_form = [&]<KroneckerPass form>() {
    launch_kronecker_shape<dimension, Shape, CellsAlongXY::alike, form>(data);
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

/// The tile of a shape from the tables.
template <class T, int P, TileShape shape>
using TileOf =
    KroneckerShape<T, P, shape.cells_x, shape.work_x, shape.work_y, shape.threads,
                   sizeof(T) == sizeof(double) ? shape.blocks_double : shape.blocks_float>;

/// The form with tiles of `Small` where the mesh has too few of `Large` to keep a GPU busy.
template <int dimension, class Large, class Small = Large>
void launch_kronecker_size(const KroneckerData<typename Large::T>& data) {
  constexpr std::int64_t kFewTiles = 6000;
  const std::int64_t tiles = static_cast<std::int64_t>(data.axis[0].cells / Large::cells_x + 1) *
                             (data.axis[1].cells / Large::cells_y + 1) * data.axis[2].cells;
  if (dimension == 3 && tiles < kFewTiles) {
    launch_kronecker_form<dimension, Small>(data);
  } else {
    launch_kronecker_form<dimension, Large>(data);
  }
}

/// Launches with the tiles of a degree, small ones where there are some.
template <int dimension, class T>
void launch_kronecker_degree(int p, const KroneckerData<T>& data) {
  with_constant<1, kMaxFastDegree>(p, [&]<int P>() {
    using Large = TileOf<T, P, (dimension == 2 ? kTiles2d : kTiles3d)[P - 1]>;
    if constexpr (dimension == 3 && P <= kMaxSmallTileDegree) {
      launch_kronecker_size<dimension, Large, TileOf<T, P, kSmallTiles3d[P - 1]>>(data);
    } else {
      launch_kronecker_size<dimension, Large>(data);
    }
  });
}

}  // namespace tessera
