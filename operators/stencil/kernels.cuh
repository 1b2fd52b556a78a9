// These kernels apply a symmetric stencil, plane after plane in 3D.
#pragma once

#include <cuda_runtime.h>

#include "operators/stencil/cache_hints.cuh"
#include "operators/stencil/layout.hpp"
#include "solvers/memory/reduction.cuh"

namespace tessera {
namespace {

// y = A x by a symmetric stencil, a_k[i] the coefficient of node i and its neighbor i + o_k:
//
//     y_i = a_0[i] x_i + sum_k a_k[i] x_{i + o_k} + sum_k a_k[i - o_k] x_{i - o_k}
//
// Least bytes a DoF in double: 8 * 14 + 16 = 128 in 3D, 8 * 5 + 16 = 56 in 2D; 53 and 17 flops.

// A thread block has a tile of kX x kY columns of nodes and marches along z through a chunk of
// planes, a thread a column. For each plane a thread
//   - gives away its products a_k[j] x_j to the 13 later neighbors through shared memory,
//   - sums its own row's terms of later neighbors, with x of two planes from shared memory,
//   - loads the coefficients of the next plane into registers, and x of the one after that,
//   - and after a barrier adds the products of its 4 earlier neighbors of this plane to the sum;
//   those
//     of the 9 below the next plane's node start the next sum.
// Products of the ring of nodes around the tile, 9 (kX + kY) values, are made by the tile's
// threads, from coefficients that another block reads as well: these come from the L2 cache.
template <int dim, int kTileX, int kTileY, int kProductBuffers, int kMinBlocks>
struct StencilTile {
  static_assert(dim == 3 || kTileY == 1);
  static constexpr int kDim = dim;
  static constexpr int kX = kTileX;
  static constexpr int kY = kTileY;
  static constexpr int kBuffers = kProductBuffers;  // 1: two barriers a plane, 2: one
  static constexpr int kBlocks = kMinBlocks;        // a multiprocessor, at least
  static constexpr int kThreads = kX * kY;
  static constexpr int kRingY = dim == 3 ? 1 : 0;
  static constexpr int kRow = kX + 2;
  static constexpr int kPlane = kRow * (kY + 2 * kRingY);
  static constexpr int kNodesOfRing = kPlane - kThreads;
  static constexpr int kXPlanes = kBuffers + 1;
  static constexpr int kNeighbors = StencilNeighbors<dim>::kNeighbors;
  static_assert(kNodesOfRing <= kThreads);

  static constexpr int place(StencilOffset o) { return o.x + kRow * o.y; }

  // Products of ring nodes: first rows, for neighbors across y, then columns, for those across x.
  static constexpr int kRowProducts = (dim == 3 ? 9 : 0) * kX;
  static constexpr int kColumnProducts = (dim == 3 ? 9 : 3) * kY;
  static constexpr int kRounds = (kRowProducts + kColumnProducts + kThreads - 1) / kThreads;

  template <class T>
  static constexpr Index shared_bytes() {
    return static_cast<Index>(sizeof(T)) * kPlane * (kBuffers * kNeighbors + kXPlanes);
  }
};

// What march_kernel() makes of A x: itself, itself with {x.y, y.y}, or r = b - A x with {r.r}.
enum class StencilPass { apply, apply_dot, residual };

template <class T>
struct StencilVectors {
  const T* x;
  T* y;                         // A x or r
  const T* b = nullptr;         // may be r
  double* sums = nullptr;       // 2 of apply_dot, 1 of residual or null
  Sums<2>* partial = nullptr;   // what blocks have left of them
  unsigned* arrived = nullptr;  // blocks that have
};

// Writes what the pass makes of (A x)_node = product, and adds to this thread's sums.
template <StencilPass pass, class T>
__device__ __forceinline__ void store_product(const StencilVectors<T>& v, Index node, T x,
                                              T product, Sums<2>& sums) {
  const T value = pass == StencilPass::residual ? v.b[node] - product : product;
  v.y[node] = value;
  if constexpr (pass != StencilPass::apply) {
    const auto wide = static_cast<double>(value);
    const double other = pass == StencilPass::apply_dot ? static_cast<double>(x) : wide;
    sums[0] += other * wide;
    if constexpr (pass == StencilPass::apply_dot) sums[1] += wide * wide;
  }
}

// The sums over the grid, where somebody asks for them.
template <StencilPass pass, int threads, class T>
__device__ __forceinline__ void store_sums(const StencilVectors<T>& v, const Sums<2>& of_thread) {
  if constexpr (pass != StencilPass::apply) {
    if (v.sums == nullptr) return;
    reduce_over_grid<threads>(of_thread, v.partial, v.arrived, [&](const Sums<2>& total) {
      v.sums[0] = total[0];
      if constexpr (pass == StencilPass::apply_dot) v.sums[1] = total[1];
    });
  }
}

// One product of a ring node: a_k at lattice position (x, y).
struct RingProduct {
  int k;  // 0: none
  int x;
  int y;
};

// `number` counts row products, then column products; positions are relative to the tile's corner.
template <class Tile>
__device__ RingProduct find_ring_product(int number) {
  using Neighbors = StencilNeighbors<Tile::kDim>;
  if (number < Tile::kRowProducts) {
    int rest = number / Tile::kX;
    for (int k = 1; k <= Tile::kNeighbors; ++k) {
      const StencilOffset o = Neighbors::offset(k);
      if (o.y == 0 || rest-- != 0) continue;
      return {k, number % Tile::kX - o.x, o.y > 0 ? -1 : Tile::kY};
    }
  }
  const int in_columns = number - Tile::kRowProducts;
  int rest = in_columns / Tile::kY;
  for (int k = 1; k <= Tile::kNeighbors; ++k) {
    const StencilOffset o = Neighbors::offset(k);
    if (o.x == 0 || rest-- != 0) continue;
    const int y = in_columns % Tile::kY - o.y;
    if (y < 0 || y >= Tile::kY) break;  // a row product
    return {k, o.x > 0 ? -1 : Tile::kX, y};
  }
  return {0, 0, 0};
}

// One block a tile and chunk: grid (tiles of x, tiles of y, chunks), with tiles of y first where
// `y_first`, block kThreads. Shared memory: shared_bytes(). Deterministic, the same bits of y for
// every shape of tile and chunk; y is written once. A residual reads b as well.
template <class T, class Tile, StencilPass pass>
__global__ void __launch_bounds__(Tile::kThreads, Tile::kBlocks)
    march_kernel(const StencilLayout layout, int chunk, bool y_first, const T* __restrict__ a,
                 CacheUse use, const StencilVectors<T> v) {
  using Neighbors = StencilNeighbors<Tile::kDim>;
  constexpr int kNeighbors = Tile::kNeighbors;
  extern __shared__ __align__(16) unsigned char shared_memory[];
  T* const products = reinterpret_cast<T*>(shared_memory);  // [buffer][k - 1][place]
  T* const xs = products + Tile::kBuffers * kNeighbors * Tile::kPlane;

  const T* __restrict__ const x = v.x;
  const std::uint64_t policy = cache_policy(use);
  const int thread = static_cast<int>(threadIdx.x);
  const int tile_x = thread % Tile::kX;
  const int tile_y = thread / Tile::kX;
  const int corner[2] = {static_cast<int>(y_first ? blockIdx.y : blockIdx.x) * Tile::kX,
                         static_cast<int>(y_first ? blockIdx.x : blockIdx.y) * Tile::kY};
  const int planes = layout.extent[2];
  const int begin = static_cast<int>(blockIdx.z) * chunk;
  const int end = min(begin + chunk, planes);
  const int first = max(begin - 1, 0);

  const auto in_lattice = [&](int at_x, int at_y) {
    return at_x >= 0 && at_x < layout.extent[0] && at_y >= 0 && at_y < layout.extent[1];
  };
  const int at[2] = {corner[0] + tile_x, corner[1] + tile_y};
  const bool inside = in_lattice(at[0], at[1]);
  const int mine = tile_x + 1 + Tile::kRow * (tile_y + Tile::kRingY);
  const Index x_plane = static_cast<Index>(layout.x_row) * layout.extent[1];
  const Index node = at[0] + static_cast<Index>(layout.x_row) * at[1];
  const T* own = a + at[0] + layout.row * at[1] + first * layout.plane;

  // The products of ring nodes that this thread makes.
  const T* ring_at[Tile::kRounds];
  int ring_from[Tile::kRounds];
  int ring_to[Tile::kRounds];
  bool has_ring[Tile::kRounds];
  bool has_ring_above[Tile::kRounds];
#pragma unroll
  for (int r = 0; r < Tile::kRounds; ++r) {
    const int number = thread + r * Tile::kThreads;
    RingProduct product{0, 0, 0};
    if (number < Tile::kRowProducts + Tile::kColumnProducts) {
      product = find_ring_product<Tile>(number);
    }
    const int ring_x = corner[0] + product.x;
    const int ring_y = corner[1] + product.y;
    has_ring[r] = product.k > 0 && in_lattice(ring_x, ring_y);
    has_ring_above[r] = has_ring[r] && product.k >= Neighbors::kFirstAbove;
    ring_at[r] = a + product.k * layout.array + ring_x + layout.row * ring_y + first * layout.plane;
    ring_from[r] = product.x + 1 + Tile::kRow * (product.y + Tile::kRingY);
    ring_to[r] = (product.k - 1) * Tile::kPlane + ring_from[r];
  }

  // The node of the ring around the tile whose x this thread loads.
  int edge = 0;
  const T* edge_x = nullptr;
  if (thread < Tile::kNodesOfRing) {
    const int rows = Tile::kRingY * 2 * Tile::kRow;
    const int in_columns = thread - rows;
    const int edge_row =
        thread < rows ? thread / Tile::kRow * (Tile::kY + 1) : in_columns / 2 + Tile::kRingY;
    const int edge_column = thread < rows ? thread % Tile::kRow : in_columns % 2 * (Tile::kRow - 1);
    edge = edge_column + Tile::kRow * edge_row;
    const int edge_at[2] = {corner[0] + edge_column - 1, corner[1] + edge_row - Tile::kRingY};
    if (in_lattice(edge_at[0], edge_at[1])) {
      edge_x = x + edge_at[0] + static_cast<Index>(layout.x_row) * edge_at[1];
    }
  }
  const auto load_x = [&](int z) {
    return inside && z < planes && z <= end ? x[node + z * x_plane] : T{0};
  };
  const auto load_edge = [&](int z) {
    return edge_x != nullptr && z < planes && z <= end ? edge_x[z * x_plane] : T{0};
  };

  T* now = xs;
  T* above = xs + Tile::kPlane;
  T* later = xs + (Tile::kXPlanes - 1) * Tile::kPlane;
  if constexpr (Tile::kBuffers == 1) later = now;
  now[mine] = load_x(first);
  above[mine] = load_x(first + 1);
  if (thread < Tile::kNodesOfRing) {
    now[edge] = load_edge(first);
    above[edge] = load_edge(first + 1);
  }
  T coefficients[kNeighbors + 1];
  T ring[Tile::kRounds];
#pragma unroll
  for (int k = 0; k <= kNeighbors; ++k) {
    const bool used = inside && (first == begin || k >= Neighbors::kFirstAbove);
    coefficients[k] = used ? load_with(own + k * layout.array, policy) : T{0};
  }
#pragma unroll
  for (int r = 0; r < Tile::kRounds; ++r) {
    const bool used = first == begin ? has_ring[r] : has_ring_above[r];
    ring[r] = used ? __ldg(ring_at[r]) : T{0};
  }
  T next_x = load_x(first + 2);
  T next_edge = load_edge(first + 2);
  T below{0};
  int buffer = 0;
  Sums<2> sums;
  __syncthreads();

  for (int z = first; z < end; ++z) {
    T* const to = products + buffer * kNeighbors * Tile::kPlane;
    const T at_node = now[mine];
    T sum = below + coefficients[0] * at_node;
#pragma unroll
    for (int k = 1; k <= kNeighbors; ++k) {
      const StencilOffset o = Neighbors::offset(k);
      sum += coefficients[k] * (o.z == 0 ? now : above)[mine + Tile::place(o)];
    }
#pragma unroll
    for (int k = 1; k <= kNeighbors; ++k) {
      to[(k - 1) * Tile::kPlane + mine] = coefficients[k] * at_node;
    }
#pragma unroll
    for (int r = 0; r < Tile::kRounds; ++r) {
      if (ring_to[r] >= 0) to[ring_to[r]] = ring[r] * now[ring_from[r]];
    }
    if (z + 1 < end) {
      own += layout.plane;
#pragma unroll
      for (int k = 0; k <= kNeighbors; ++k) {
        if (inside) coefficients[k] = load_with(own + k * layout.array, policy);
      }
#pragma unroll
      for (int r = 0; r < Tile::kRounds; ++r) {
        ring_at[r] += layout.plane;
        if (has_ring[r]) ring[r] = __ldg(ring_at[r]);
      }
    }
    if constexpr (Tile::kBuffers == 2) {
      later[mine] = next_x;
      if (thread < Tile::kNodesOfRing) later[edge] = next_edge;
      next_x = load_x(z + 3);
      next_edge = load_edge(z + 3);
    }
    __syncthreads();
    below = T{0};
#pragma unroll
    for (int k = 1; k <= kNeighbors; ++k) {
      const StencilOffset o = Neighbors::offset(k);
      (o.z == 0 ? sum : below) += to[(k - 1) * Tile::kPlane + mine - Tile::place(o)];
    }
    if (inside && z >= begin) {
      store_product<pass>(v, node + z * x_plane, at_node, sum, sums);
    }
    if constexpr (Tile::kBuffers == 1) {
      later[mine] = next_x;
      if (thread < Tile::kNodesOfRing) later[edge] = next_edge;
      next_x = load_x(z + 3);
      next_edge = load_edge(z + 3);
      __syncthreads();
      T* const free_plane = now;
      now = above;
      above = free_plane;
      later = now;
    } else {
      T* const free_plane = now;
      now = above;
      above = later;
      later = free_plane;
      buffer ^= 1;
    }
  }
  store_sums<pass, Tile::kThreads>(v, sums);
}

// The same in 2D by one thread a node: coefficients of earlier neighbors are read once more, from
// the L1 cache. Launch: blocks of (kNodeTileX, kNodeTileY) nodes, tiles along x first.
constexpr int kNodeTileX = 32;
constexpr int kNodeTileY = 8;

template <class T>
__global__ void __launch_bounds__(kNodeTileX* kNodeTileY)
    node_kernel(const StencilLayout layout, unsigned tiles_x, const T* __restrict__ a,
                const T* __restrict__ x, T* __restrict__ y) {
  using Neighbors = StencilNeighbors<2>;
  const int i = static_cast<int>(blockIdx.x % tiles_x * kNodeTileX + threadIdx.x);
  const int j = static_cast<int>(blockIdx.x / tiles_x * kNodeTileY + threadIdx.y);
  if (i >= layout.extent[0] || j >= layout.extent[2]) return;
  const Index x_row = layout.x_row;
  const Index node = i + x_row * j;
  const T* const own = a + i + layout.plane * j;
  const auto in_lattice = [&](int at_x, int at_z) {
    return at_x >= 0 && at_x < layout.extent[0] && at_z >= 0 && at_z < layout.extent[2];
  };
  T sum = own[0] * x[node];
#pragma unroll
  for (int k = 1; k <= Neighbors::kNeighbors; ++k) {
    const StencilOffset o = Neighbors::offset(k);
    const T* const of_k = own + k * layout.array;
    const Index step = o.x + x_row * o.z;
    if (in_lattice(i + o.x, j + o.z)) sum += of_k[0] * x[node + step];
    if (in_lattice(i - o.x, j - o.z)) {
      sum += of_k[-(o.x + layout.plane * o.z)] * x[node - step];
    }
  }
  y[node] = sum;
}

}  // namespace
}  // namespace tessera
