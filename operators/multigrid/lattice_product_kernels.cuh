// These kernels apply products of three matrices, one an axis.
#pragma once

#include <algorithm>

#include "operators/multigrid/lattice_product.hpp"

namespace tessera {
namespace {

// The kernels of lattice_product.cu, which alone includes this.

constexpr int kLanes = 32;
// Lines of threads along y of a block where the lattice has several.
constexpr int kMaxLines = 8;
constexpr int kMaxThreads = kLanes * kMaxLines;
// Input columns of a tile that is reduced: a thread has 2 along x and 3 along y, or 6 along x of
// one line.
constexpr int kColumnsX = 2;
constexpr int kColumnsY = 3;
// Output columns along x that a thread of a tile that is expanded has.
constexpr int kExpandedColumns = 2;

template <class T>
using ProductKernel = void (*)(typename LatticeProduct<T>::Arguments);

// The tile and the stretch of z of a block.
struct TilePlace {
  int x0, y0, z0;
  int x_count, y_count, z_end;
  // Of the input: where what the tile depends on begins, and how much that is.
  int first_x, first_y;
  int span_x, span_y;
  unsigned stretch;
};

template <class Arguments>
__device__ TilePlace tile_place(const Arguments& a, Index z_rows) {
  const auto& [tile_x, tile_y, span_x, span_y] = a.tile;
  const unsigned line_of_tiles = blockIdx.x / a.tiles_x;
  TilePlace at;
  at.stretch = line_of_tiles / a.tiles_y;
  at.x0 = static_cast<int>(blockIdx.x - line_of_tiles * a.tiles_x) * tile_x;
  at.y0 = static_cast<int>(line_of_tiles - at.stretch * a.tiles_y) * tile_y;
  at.z0 = static_cast<int>(at.stretch) * a.stretch;
  at.x_count = static_cast<int>(min(static_cast<Index>(tile_x), a.axes[0].rows - at.x0));
  at.y_count = static_cast<int>(min(static_cast<Index>(tile_y), a.axes[1].rows - at.y0));
  at.z_end = static_cast<int>(min(static_cast<Index>(at.z0) + a.stretch, z_rows));
  at.first_x = a.axes[0].place[at.x0];
  at.first_y = a.axes[1].place[at.y0];
  at.span_x = static_cast<int>(min(static_cast<Index>(span_x), a.axes[0].columns - at.first_x));
  at.span_y = static_cast<int>(min(static_cast<Index>(span_y), a.axes[1].columns - at.first_y));
  return at;
}

// Blocks that a multiprocessor should hold.
template <class T>
constexpr int blocks_of_expansion(int width) {
  return sizeof(T) > 4 ? 2 : width > 3 ? 3 : 4;
}

// out += A in for rows of so many entries along x and z, and along y. A thread has columns along z
// at one y and at kExpandedColumns of x, 32 apart, and loads a few values of out ahead.
// Launch: a block of 32 x 8 threads, 32 x 1 for one line, for each tile and each stretch of z,
// tiles along x fastest. Shared memory: 2 lines [span_x] for each y. Least bytes: in once, out read
// and written once. Flops an output value: 2 width, and for each plane of the input that comes with
// a row 2 (width + width_y span_x / tile.x). Deterministic.
template <class T, int width, int width_y>
__global__ void __launch_bounds__(kMaxThreads, blocks_of_expansion<T>(width))
    expand_kernel(const __grid_constant__ typename LatticeProduct<T>::Arguments a) {
  extern __shared__ double shared[];
  constexpr int kAhead = 4;
  const auto& [ax, ay, az] = a.axes;
  const TilePlace at = tile_place(a, az.rows);
  const int lane = static_cast<int>(threadIdx.x);
  const int line = static_cast<int>(threadIdx.y);
  if (line >= at.y_count) return;
  const int y = at.y0 + line;
  T* const own_lines = reinterpret_cast<T*>(shared) + 2 * line * a.tile.span_x;

  T entries_y[width_y];
#pragma unroll
  for (int k = 0; k < width_y; ++k) entries_y[k] = ay.entries[static_cast<Index>(y) * width_y + k];
  const T* const in_of_y = a.in + static_cast<Index>(ay.place[y]) * ax.columns + at.first_x;
  T entries_x[kExpandedColumns][width];
  int first_x[kExpandedColumns];
#pragma unroll
  for (int c = 0; c < kExpandedColumns; ++c) {
    const int x = at.x0 + min(lane + c * kLanes, at.x_count - 1);
    first_x[c] = ax.place[x] - at.first_x;
#pragma unroll
    for (int k = 0; k < width; ++k) {
      entries_x[c][k] = ax.entries[static_cast<Index>(x) * width + k];
    }
  }

  // The planes before `next` of A_y A_x in, the last one last.
  T ring[kExpandedColumns][width] = {};
  int next = max(0, az.place[at.z0] - width);
  const auto take_plane = [&] {
    // Two lines take turns, so that a lane that is ahead writes nothing that is read.
    T* const own = own_lines + (next & 1) * a.tile.span_x;
    const T* const in = in_of_y + static_cast<Index>(next) * ay.columns * ax.columns;
    for (int x = lane; x < at.span_x; x += kLanes) {
      T sum{0};
#pragma unroll
      for (int k = 0; k < width_y; ++k) sum += entries_y[k] * in[k * ax.columns + x];
      own[x] = sum;
    }
    __syncwarp();
#pragma unroll
    for (int c = 0; c < kExpandedColumns; ++c) {
#pragma unroll
      for (int k = 0; k + 1 < width; ++k) ring[c][k] = ring[c][k + 1];
      T sum{0};
#pragma unroll
      for (int k = 0; k < width; ++k) sum += entries_x[c][k] * own[first_x[c] + k];
      ring[c][width - 1] = sum;
    }
    ++next;
  };

  const Index plane_size = ay.rows * ax.rows;
  for (int z = at.z0; z < at.z_end; z += kAhead) {
    T* const out = a.out + static_cast<Index>(z) * plane_size + y * ax.rows + at.x0;
    T before[kAhead][kExpandedColumns];
#pragma unroll
    for (int r = 0; r < kAhead; ++r) {
#pragma unroll
      for (int c = 0; c < kExpandedColumns; ++c) {
        const int x = lane + c * kLanes;
        if (z + r < at.z_end && x < at.x_count) before[r][c] = out[r * plane_size + x];
      }
    }
#pragma unroll
    for (int r = 0; r < kAhead; ++r) {
      if (z + r >= at.z_end) break;
      const int end = az.place[z + r];
      while (next < end) take_plane();
      const T* const entries_z = az.entries + static_cast<Index>(z + r) * width;
      T sum[kExpandedColumns] = {};
#pragma unroll
      for (int k = 0; k < width; ++k) {
        const T entry = entries_z[k];
#pragma unroll
        for (int c = 0; c < kExpandedColumns; ++c) sum[c] += entry * ring[c][k];
      }
#pragma unroll
      for (int c = 0; c < kExpandedColumns; ++c) {
        const int x = lane + c * kLanes;
        if (x < at.x_count) out[r * plane_size + x] = before[r][c] + sum[c];
      }
    }
  }
}

// out = A in for rows of so many entries along x and along y, and columns of A_z, which axes[2] has
// as rows, of `depth` entries.
// Launch as above. Shared memory: 2 planes [span_y][span_x] and a line [span_x] for each y. Least
// bytes: in and out once. Flops an input value: 2 depth, and for each of the output
// 2 (width + width_y span_x / tile.x). Deterministic.
template <class T, int width, int width_y, int depth>
__global__ void __launch_bounds__(kMaxThreads, sizeof(T) > 4 ? 2 : 3)
    reduce_kernel(const __grid_constant__ typename LatticeProduct<T>::Arguments a) {
  extern __shared__ double shared[];
  const auto& [ax, ay, az] = a.axes;
  const TilePlace at = tile_place(a, az.columns);
  const int lane = static_cast<int>(threadIdx.x);
  const int line = static_cast<int>(threadIdx.y);
  const int lines = static_cast<int>(blockDim.y);
  const int whole_plane = a.tile.span_y * a.tile.span_x;
  T* const planes = reinterpret_cast<T*>(shared);
  T* const own_line = planes + 2 * whole_plane + line * a.tile.span_x;
  const int y = at.y0 + line;

  const T* in[kColumnsY][kColumnsX];
  bool has[kColumnsY][kColumnsX];
  int place[kColumnsY][kColumnsX];  // in a plane of shared memory
#pragma unroll
  for (int j = 0; j < kColumnsY; ++j) {
#pragma unroll
    for (int i = 0; i < kColumnsX; ++i) {
      const int of_x = lane + (width_y == 1 ? i + j * kColumnsX : i) * kLanes;
      const int of_y = width_y == 1 ? 0 : line + j * lines;
      has[j][i] = of_x < at.span_x && of_y < at.span_y;
      place[j][i] = of_y * a.tile.span_x + of_x;
      in[j][i] = a.in + static_cast<Index>(at.first_y + of_y) * ax.columns + at.first_x + of_x;
    }
  }
  const Index plane_size = ay.columns * ax.columns;
  const auto load_plane = [&](int plane, T(&values)[kColumnsY][kColumnsX]) {
#pragma unroll
    for (int j = 0; j < kColumnsY; ++j) {
#pragma unroll
      for (int i = 0; i < kColumnsX; ++i) {
        values[j][i] = has[j][i] ? in[j][i][plane * plane_size] : T{0};
      }
    }
  };

  // Sums of the rows of A_z from `row` on.
  T sums[kColumnsY][kColumnsX][depth] = {};
  int plane = a.planes[2 * at.stretch];
  const int end = a.planes[2 * at.stretch + 1];
  int row = plane < end ? min(at.z0, az.place[plane]) : at.z0;
  const auto finish_row = [&] {
    if (row >= at.z0 && row < at.z_end) {
      // Two planes take turns, so that one wait for all threads is enough.
      T* const sum_plane = planes + (row & 1) * whole_plane;
#pragma unroll
      for (int j = 0; j < kColumnsY; ++j) {
#pragma unroll
        for (int i = 0; i < kColumnsX; ++i) {
          if (has[j][i]) sum_plane[place[j][i]] = sums[j][i][0];
        }
      }
      __syncthreads();
      if (line < at.y_count) {
        const T* const entries_y = ay.entries + static_cast<Index>(y) * width_y;
        const T* const of_y = sum_plane + (ay.place[y] - at.first_y) * a.tile.span_x;
        for (int x = lane; x < at.span_x; x += kLanes) {
          T sum{0};
#pragma unroll
          for (int k = 0; k < width_y; ++k) sum += entries_y[k] * of_y[k * a.tile.span_x + x];
          own_line[x] = sum;
        }
        __syncwarp();
        for (int x = lane; x < at.x_count; x += kLanes) {
          const T* const entries_x = ax.entries + static_cast<Index>(at.x0 + x) * width;
          const T* const of_x = own_line + ax.place[at.x0 + x] - at.first_x;
          T sum{0};
#pragma unroll
          for (int k = 0; k < width; ++k) sum += entries_x[k] * of_x[k];
          a.out[(static_cast<Index>(row) * ay.rows + y) * ax.rows + at.x0 + x] = sum;
        }
        __syncwarp();
      }
    }
#pragma unroll
    for (int j = 0; j < kColumnsY; ++j) {
#pragma unroll
      for (int i = 0; i < kColumnsX; ++i) {
#pragma unroll
        for (int k = 0; k + 1 < depth; ++k) sums[j][i][k] = sums[j][i][k + 1];
        sums[j][i][depth - 1] = T{0};
      }
    }
    ++row;
  };

  T ahead[kColumnsY][kColumnsX];
  if (plane < end) load_plane(plane, ahead);
  for (; plane < end; ++plane) {
    T values[kColumnsY][kColumnsX];
#pragma unroll
    for (int j = 0; j < kColumnsY; ++j) {
#pragma unroll
      for (int i = 0; i < kColumnsX; ++i) values[j][i] = ahead[j][i];
    }
    if (plane + 1 < end) load_plane(plane + 1, ahead);
    for (const int first = az.place[plane]; row < first;) finish_row();
    const T* const entries_z = az.entries + static_cast<Index>(plane) * depth;
#pragma unroll
    for (int k = 0; k < depth; ++k) {
      const T entry = entries_z[k];
#pragma unroll
      for (int j = 0; j < kColumnsY; ++j) {
#pragma unroll
        for (int i = 0; i < kColumnsX; ++i) sums[j][i][k] += entry * values[j][i];
      }
    }
  }
  while (row < at.z_end) finish_row();
}

// out = or += A in for rows of any widths, as expand_kernel does it.
// Launch as above. Shared memory: 2 lines [span_x] for each y, and the planes
// [width of A_z][tile.y][tile.x] of A_y A_x in, of which a thread reads only what it has written.
// Bytes and flops as of expand_kernel, with the widths of the axes. Deterministic.
template <class T, LineStore store>
__global__ void __launch_bounds__(kMaxThreads)
    any_product_kernel(const __grid_constant__ typename LatticeProduct<T>::Arguments a) {
  extern __shared__ double shared[];
  const auto& [ax, ay, az] = a.axes;
  const TilePlace at = tile_place(a, az.rows);
  const int line = static_cast<int>(threadIdx.y);
  if (line >= at.y_count) return;
  const int y = at.y0 + line;
  T* const own_lines = reinterpret_cast<T*>(shared) + 2 * line * a.tile.span_x;
  T* const ring = reinterpret_cast<T*>(shared) + 2 * a.tile.y * a.tile.span_x;
  const T* const entries_y = ay.entries + static_cast<Index>(y) * ay.width;
  const auto kept = [&](int plane, int x) -> T& {
    return ring[((plane % az.width) * a.tile.y + line) * a.tile.x + x];
  };
  int next = max(0, az.place[at.z0] - az.width);
  for (int z = at.z0; z < at.z_end; ++z) {
    const int end = az.place[z];
    for (; next < end; ++next) {
      T* const own = own_lines + (next & 1) * a.tile.span_x;
      const T* const in =
          a.in + (static_cast<Index>(next) * ay.columns + ay.place[y]) * ax.columns + at.first_x;
      for (int x = static_cast<int>(threadIdx.x); x < at.span_x; x += kLanes) {
        T sum{0};
        for (int k = 0; k < ay.width; ++k) sum += entries_y[k] * in[k * ax.columns + x];
        own[x] = sum;
      }
      __syncwarp();
      for (int x = static_cast<int>(threadIdx.x); x < at.x_count; x += kLanes) {
        const T* const entries_x = ax.entries + static_cast<Index>(at.x0 + x) * ax.width;
        const T* const of_x = own + ax.place[at.x0 + x] - at.first_x;
        T sum{0};
        for (int k = 0; k < ax.width; ++k) sum += entries_x[k] * of_x[k];
        kept(next, x) = sum;
      }
    }
    const T* const entries_z = az.entries + static_cast<Index>(z) * az.width;
    T* const out = a.out + (static_cast<Index>(z) * ay.rows + y) * ax.rows + at.x0;
    for (int x = static_cast<int>(threadIdx.x); x < at.x_count; x += kLanes) {
      T sum{0};
      for (int k = max(0, az.width - end); k < az.width; ++k) {
        sum += entries_z[k] * kept(end - az.width + k, x);
      }
      out[x] = store == LineStore::add ? out[x] + sum : sum;
    }
  }
}

// Rows of P have p_c + 1 entries, and those of P^T 4 p_c - 1 where cells are halved, or an even
// degree is. For p_c = 1 to 4 there are kernels.
constexpr int kMaxWidth = 5;
constexpr int transposed_width(int width) { return 4 * width - 5; }

// Lines along y of a lattice.
enum class LatticeLines { one, several };

// The kernels for rows of P of so many entries.
template <class T, int width>
ProductKernel<T> fixed_kernel(LineStore store, LatticeLines lines) {
  constexpr int kReduced = transposed_width(width);
  if (store == LineStore::add) {
    return lines == LatticeLines::one ? expand_kernel<T, width, 1> : expand_kernel<T, width, width>;
  }
  return lines == LatticeLines::one ? reduce_kernel<T, kReduced, 1, width>
                                    : reduce_kernel<T, kReduced, kReduced, width>;
}
template <class T>
ProductKernel<T> choose_kernel(LineStore store, int width, LatticeLines lines) {
  switch (width) {
    case 2:
      return fixed_kernel<T, 2>(store, lines);
    case 3:
      return fixed_kernel<T, 3>(store, lines);
    case 4:
      return fixed_kernel<T, 4>(store, lines);
    case kMaxWidth:
      return fixed_kernel<T, kMaxWidth>(store, lines);
    default:
      return store == LineStore::add ? any_product_kernel<T, LineStore::add>
                                     : any_product_kernel<T, LineStore::assign>;
  }
}

}  // namespace
}  // namespace tessera
