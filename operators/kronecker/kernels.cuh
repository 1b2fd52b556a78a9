// These are the Kronecker kernels of the GPU, their sums and their launch shapes.
#pragma once

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "operators/kronecker/tile.cuh"
#include "solvers/memory/cuda_check.hpp"

namespace tessera {

/// results = the first `count` sums of `mine` over all threads: threads of a block, then blocks, in
/// a fixed order. The last block to arrive adds those of all. Shared memory: two doubles a warp.
template <int threads>
__device__ void add_over_grid(KroneckerSumPair mine, KroneckerSums sums, int count, double* results,
                              double* shared) {
  __shared__ bool is_last;
  const auto add_over_block = [&](KroneckerSumPair value) {
#pragma unroll
    for (int step = 16; step > 0; step /= 2) {
      value.first += __shfl_down_sync(~0U, value.first, step);
      value.second += __shfl_down_sync(~0U, value.second, step);
    }
    if (threadIdx.x % 32 == 0) {
      shared[threadIdx.x / 32] = value.first;
      shared[threads / 32 + threadIdx.x / 32] = value.second;
    }
    __syncthreads();
    KroneckerSumPair sum;
    for (int w = 0; w < threads / 32; ++w) {
      sum.first += shared[w];
      sum.second += shared[threads / 32 + w];
    }
    __syncthreads();
    return sum;
  };
  const unsigned blocks = gridDim.x * gridDim.y * gridDim.z;
  const KroneckerSumPair of_block = add_over_block(mine);
  if (threadIdx.x == 0) {
    const unsigned block = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
    sums.partial[2 * block] = of_block.first;
    sums.partial[2 * block + 1] = of_block.second;
    __threadfence();
    // Wraps to 0 at the last block, ready for the next kernel.
    is_last = atomicInc(sums.arrived, blocks - 1) == blocks - 1;
  }
  __syncthreads();
  if (!is_last) return;
  __threadfence();
  KroneckerSumPair sum;
#pragma unroll 8
  for (unsigned b = threadIdx.x; b < blocks; b += threads) {
    sum.first += __ldcg(sums.partial + 2 * b);
    sum.second += __ldcg(sums.partial + 2 * b + 1);
  }
  sum = add_over_block(sum);
  if (threadIdx.x == 0) results[0] = sum.first;
  if (threadIdx.x == 0 && count == 2) results[1] = sum.second;
}

/// The sums of the form, where it has some, once the tile is done with its shared memory.
template <class Shape, KroneckerPass compiled>
__device__ __forceinline__ void add_tile_sums(KroneckerSumPair of_thread,
                                              const KroneckerData<typename Shape::T>& g,
                                              unsigned char* shared_memory) {
  if constexpr (compiled != KroneckerPass::apply) {
    if (g.v.sums == nullptr) return;
    __syncthreads();
    add_over_grid<Shape::threads>(of_thread, g.sums, g.v.form == KroneckerPass::apply_dot ? 2 : 1,
                                  g.v.sums, reinterpret_cast<double*>(shared_memory));
  }
}

/// Blocks an SM. Fewer where matrix entries are no constants, or x is kept for the sums and would
/// spill (p = 2): these take registers.
template <class Shape>
constexpr int least_blocks(CellsAlongXY kind, KroneckerPass form) {
  if (kind == CellsAlongXY::different) return (Shape::blocks_per_sm + 1) / 2;
  if (form == KroneckerPass::apply_dot && Shape::p == 2) return (3 * Shape::blocks_per_sm + 1) / 4;
  return Shape::blocks_per_sm;
}

/// Launch: one block a tile, Shape::threads threads, Shape::shared_bytes() of shared memory.
/// Bytes a DoF: x and y once, and what the form adds. Deterministic.
template <class Shape, CellsAlongXY kind, KroneckerPass compiled>
__global__ void __launch_bounds__(Shape::threads, least_blocks<Shape>(kind, compiled))
    kronecker_2d_kernel(const __grid_constant__ KroneckerArguments<typename Shape::T, Shape::p> g) {
  extern __shared__ __align__(16) unsigned char shared_memory[];
  KroneckerTile<Shape, kind, compiled> tile(g, shared_memory);
  tile.run_once();
  add_tile_sums<Shape, compiled>(tile.sums_of_thread(), g, shared_memory);
}

/// As in 2D, with one block a tile and a chunk of layers. FMAs a DoF: 7 (p + 2), and what tiles
/// compute twice: a row of them (CellsX p + p + 1) / (CellsX p) in the y pass.
template <class Shape, CellsAlongXY kind, KroneckerPass compiled>
__global__ void __launch_bounds__(Shape::threads, least_blocks<Shape>(kind, compiled))
    kronecker_3d_kernel(const __grid_constant__ KroneckerArguments<typename Shape::T, Shape::p> g) {
  extern __shared__ __align__(16) unsigned char shared_memory[];
  KroneckerTile<Shape, kind, compiled> tile(g, shared_memory);
  tile.run_through_layers();
  add_tile_sums<Shape, compiled>(tile.sums_of_thread(), g, shared_memory);
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

/// Blocks that the GPU holds at a time; the kernel may then use its shared memory.
template <class Kernel>
int resident_blocks(Kernel kernel, int threads, int shared_bytes) {
  check_cuda(
      cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, shared_bytes),
      "asking for shared memory");
  int blocks = 0;
  check_cuda(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, threads, shared_bytes),
             "asking for the occupancy");
  return std::max(1, blocks) * device_attribute(cudaDevAttrMultiProcessorCount);
}

template <int dimension, class Shape, CellsAlongXY kind, KroneckerPass compiled>
void launch_kronecker_shape(const KroneckerData<typename Shape::T>& data) {
  KroneckerArguments<typename Shape::T, Shape::p> arguments(data);
  constexpr int kShared = Shape::shared_bytes(dimension, kind);
  constexpr KroneckerLeastTile kLeast = kronecker_least_tile(dimension, Shape::p);
  static_assert(Shape::cells_x >= kLeast.cells_x && Shape::cells_y >= kLeast.cells_y);
  // The last tile of an axis may hold the last node alone.
  dim3 grid(data.axis[0].cells / Shape::cells_x + 1, data.axis[1].cells / Shape::cells_y + 1, 1);
  const auto kernel = [] {
    if constexpr (dimension == 2) {
      return kronecker_2d_kernel<Shape, kind, compiled>;
    } else {
      return kronecker_3d_kernel<Shape, kind, compiled>;
    }
  }();
  static const int slots = resident_blocks(kernel, Shape::threads, kShared);
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
      2 * static_cast<std::int64_t>(grid.x) * grid.y * grid.z > data.sums.capacity) {
    throw std::logic_error("the kernel kronecker has more blocks than room for their sums");
  }
  kernel<<<grid, Shape::threads, kShared, device_stream()>>>(arguments);
  check_launch("Kronecker operator");
}

/// The kernel of the data's kind of cells and form.
template <int dimension, class Shape>
void launch_kronecker_form(const KroneckerData<typename Shape::T>& data) {
  if (data.kind == CellsAlongXY::different) {
    return launch_kronecker_shape<dimension, Shape, CellsAlongXY::different, KroneckerPass::any>(
        data);
  }
  const auto launch = [&]<KroneckerPass form>() {
    launch_kronecker_shape<dimension, Shape, CellsAlongXY::alike, form>(data);
  };
  switch (data.v.form) {
    case KroneckerPass::apply:
      return launch.template operator()<KroneckerPass::apply>();
    case KroneckerPass::apply_dot:
      return launch.template operator()<KroneckerPass::apply_dot>();
    case KroneckerPass::residual:
      return launch.template operator()<KroneckerPass::residual>();
    case KroneckerPass::any:
      break;
  }
}

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

/// Shapes as measured on an H200: cells along x, cells an item along x and along y, threads, blocks
/// an SM.
template <class T>
void launch_kronecker_3d_degree(int p, const KroneckerData<T>& data) {
  constexpr bool is_double = sizeof(T) == sizeof(double);
  switch (p) {
    case 1:
      return launch_kronecker_size<3, KroneckerShape<T, 1, 60, 4, 8, 64, is_double ? 8 : 12>,
                                   KroneckerShape<T, 1, 60, 4, 4, 64, 12>>(data);
    case 2:
      return launch_kronecker_size<3, KroneckerShape<T, 2, 30, 2, 4, 64, is_double ? 8 : 12>,
                                   KroneckerShape<T, 2, 30, 2, 2, 64, 10>>(data);
    case 3:
      return launch_kronecker_size<3, KroneckerShape<T, 3, 20, 1, 2, 64, is_double ? 8 : 12>,
                                   KroneckerShape<T, 3, 20, 1, 1, 64, 8>>(data);
    case 4:
      return launch_kronecker_size<3, KroneckerShape<T, 4, 14, 1, 2, 64, is_double ? 6 : 10>,
                                   KroneckerShape<T, 4, 14, 1, 1, 64, 8>>(data);
    case 5:
      return launch_kronecker_size<3, KroneckerShape<T, 5, 11, 1, 1, 64, is_double ? 6 : 10>>(data);
    case 6:
      return launch_kronecker_size<3, KroneckerShape<T, 6, 9, 1, 1, 64, is_double ? 4 : 8>>(data);
    case 7:
      return launch_kronecker_size<3, KroneckerShape<T, 7, 8, 1, 1, 64, is_double ? 4 : 8>>(data);
    case 8:
      return launch_kronecker_size<3, KroneckerShape<T, 8, 14, 1, 1, 128, is_double ? 2 : 4>>(data);
    default:
      throw std::invalid_argument("no Kronecker kernel of this degree is unrolled");
  }
}

template <class T>
void launch_kronecker_2d_degree(int p, const KroneckerData<T>& data) {
  constexpr bool is_double = sizeof(T) == sizeof(double);
  switch (p) {
    case 1:
      return launch_kronecker_form<2, KroneckerShape<T, 1, 60, 4, 16, 64, is_double ? 8 : 12>>(
          data);
    case 2:
      return launch_kronecker_form<2, KroneckerShape<T, 2, 30, 2, 8, 64, is_double ? 8 : 12>>(data);
    case 3:
      return launch_kronecker_form<2, KroneckerShape<T, 3, 20, 1, 4, 64, is_double ? 8 : 12>>(data);
    case 4:
      return launch_kronecker_form<2, KroneckerShape<T, 4, 14, 1, 4, 64, is_double ? 6 : 10>>(data);
    case 5:
      return launch_kronecker_form<2, KroneckerShape<T, 5, 11, 1, 3, 64, is_double ? 6 : 10>>(data);
    case 6:
      return launch_kronecker_form<2, KroneckerShape<T, 6, 9, 1, 2, 64, is_double ? 6 : 8>>(data);
    case 7:
      return launch_kronecker_form<2, KroneckerShape<T, 7, 8, 1, 2, 64, is_double ? 6 : 8>>(data);
    case 8:
      return launch_kronecker_form<2, KroneckerShape<T, 8, 14, 1, 2, 128, is_double ? 3 : 4>>(data);
    default:
      throw std::invalid_argument("no Kronecker kernel of this degree is unrolled");
  }
}

}  // namespace tessera
